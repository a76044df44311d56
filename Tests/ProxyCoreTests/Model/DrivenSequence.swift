import HTTPCaching
import HTTPMessage
import HTTPWire

@testable import ProxyCore

/// The caching sequence of the library, driven through the steps of a history as `CachedCall` in HTTPSession drives it.
final class DrivenSequence: DrivenCache {
    struct Unexpected: Error { let text: String }

    private let world: SimulatedWorld
    private var now = Messages.epoch
    private var outcome = ModelOutcome()

    init(context: ExchangeContext) { world = SimulatedWorld(seed: 0, context: context, isTracing: false) }

    /// The same history without the requests that the library sends past its cache: those with preconditions of their own.
    static func steps(_ steps: [ModelStep]) -> [ModelStep] {
        steps.map { step in
            var step = step
            step.request.fields.lines.removeAll { $0.name.hasPrefix("if-") }
            return step
        }
    }

    func run(_ step: ModelStep) throws -> ModelOutcome {
        now = Timestamp(seconds: Int64(step.time))
        outcome = ModelOutcome()
        var request = RequestHead()
        try Messages.read(
            Messages.requestText("\(step.request.method) \(step.request.url)", step.request.fields.text), into: &request)
        let key = CacheKey(of: request).bytes
        var call = Call(
            sequence: CachingSequence(request: request, directives: RequestDirectives(request), overrides: .none),
            request: request,
            key: key)
        if let stale = try attend(&call, step) { try validate(stale, request, key, step) }
        outcome.stored = world.stored.values.flatMap { $0 }.map { stored in
            ModelOutcome.line(url: DrivenProxy.url(stored.key), ModelFields(stored.head.fields))
        }.sorted()
        return outcome
    }

    /// One sequence with its request, and the origin's latest response.
    private struct Call {
        var sequence: CachingSequence
        let request: RequestHead
        let key: [UInt8]
        /// The index of the step's next response.
        var attempt = 0
        var received: OriginResponse?
        var length = 0
    }

    private func found(_ key: [UInt8]) -> [StoredResponse] { (world.stored[key] ?? []).sorted { $0.isNewer(than: $1) } }

    /// Serves the client.
    /// - Returns: the stale response that is to be validated in the background.
    private func attend(_ call: inout Call, _ step: ModelStep) throws -> StoredResponse? {
        var next = call.sequence.begin()
        while true {
            switch next {
            case .lookUp: next = call.sequence.found(found(call.key), at: now)
            case .serve(let stored, let age, let validates):
                // A validated response is served with the age 0, which is the time since its validation.
                let wasValidated = call.received?.head.status == .notModified
                outcome.answer = ModelOutcome.Answer(
                    status: Int(stored.head.status.code), age: wasValidated ? nil : Int(age.seconds),
                    fields: ModelFields(stored.head.fields))
                return validates ? stored : nil
            case .send(let validating):
                next = try send(&call, validating, step)
                outcome.forwarded.append(sent)
            case .deliver(let decision):
                guard let received = call.received else { throw Unexpected(text: "nothing was received") }
                outcome.answer = ModelOutcome.Answer(
                    status: Int(received.head.status.code), age: nil,
                    fields: ModelFields(received.head.fields).withoutHopByHop())
                keep(call, decision)
                return nil
            case .fail:
                outcome.answer = ModelOutcome.Answer(status: 504)
                return nil
            case .finish: throw Unexpected(text: "the client gets no response")
            }
        }
    }

    private func validate(_ stale: StoredResponse, _ request: RequestHead, _ key: [UInt8], _ step: ModelStep) throws {
        let directives = RequestDirectives(request)
        if Storability.refusalWhateverMethod(request, directives, .none, .none) != nil || directives.contains(.onlyIfCached) {
            return
        }
        let lines = step.request.fields.lines.filter { !["cache-control", "pragma"].contains($0.name) }.map {
            "\($0.name): \($0.value)"
        }
        var validation = RequestHead()
        try Messages.read(Messages.requestText("GET \(step.request.url)", lines), into: &validation)
        var call = Call(
            sequence: CachingSequence(
                validating: stale, request: validation, directives: RequestDirectives(validation), overrides: .none),
            request: validation, key: key, attempt: 2)
        guard case .send(let validating) = call.sequence.begin() else { throw Unexpected(text: "nothing is validated") }
        var next = try send(&call, validating, step)
        outcome.background.append(sent)
        while case .send(let again) = next {
            next = try send(&call, again, step)
            outcome.background.append(sent)
        }
        if case .deliver(let decision) = next { keep(call, decision) }
    }

    // MARK: The origin and the store

    /// The preconditions of the latest request.
    private var sent = ModelPreconditions()

    private func send(_ call: inout Call, _ validating: StoredResponse?, _ step: ModelStep) throws -> CachingStep {
        var fields = call.request.fields
        if let validating { Validation.addPreconditions(of: validating, to: &fields) }
        sent = ModelPreconditions(ModelFields(fields))
        let requestTime = now
        let (delay, response) = step.response(call.attempt, to: sent)
        call.attempt += 1
        now = now.advanced(seconds: Int64(delay))
        guard let response else { return call.sequence.failed(.error, at: now) }
        var head = ResponseHead()
        try Messages.read(Messages.responseText(response.status, response.fields.text), into: &head)
        let received = OriginResponse(head: head, requestTime: requestTime, responseTime: now)
        call.received = received
        call.length = response.fields.single("content-length").flatMap { Int($0) } ?? 0
        let next = call.sequence.received(
            received, stored: call.sequence.needsStored(for: head) ? found(call.key) : [], at: now)
        for change in call.sequence.takeChanges() {
            switch change {
            case .freshen(let old, let new): world.replace(old, by: new)
            case .remove(let old): world.remove(old)
            case .invalidate(let key): world.invalidate([key])
            }
        }
        return next
    }

    private func keep(_ call: Call, _ decision: StorageDecision) {
        guard case .store(let facts, _) = decision, var head = call.received?.head, let requestTime = call.received?.requestTime
        else { return }
        head.fields.remove(.contentLength)
        guard let prepared = StoredFields.prepare(head, to: call.request, facts: facts) else { return }
        world.put(
            StoredResponse(
                key: call.key, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
                requestTime: requestTime,
                body: .bytes([UInt8](repeating: 0x61, count: call.length))))
    }
}
