import HTTPCaching
import HTTPMessage
import HTTPWire

@testable import ProxyCore

/// A cache that is compared with the model.
protocol DrivenCache {
    func run(_ step: ModelStep) throws -> ModelOutcome
}

/// The real exchange, driven through the steps of a history one by one, with the simulation's store.
final class DrivenProxy: DrivenCache {
    private let world: SimulatedWorld
    private let attended: DrivenExchange
    private let background: DrivenExchange

    init(context: ExchangeContext) {
        world = SimulatedWorld(seed: 0, context: context, isTracing: false)
        attended = DrivenExchange(world)
        background = DrivenExchange(world)
    }

    func run(_ step: ModelStep) throws -> ModelOutcome {
        var outcome = ModelOutcome()
        try attended.ask(step)
        outcome.forwarded = attended.forwarded
        outcome.answer = attended.answer
        if attended.isToBeValidated {
            try background.validate(step, served: attended)
            outcome.background = background.forwarded
        }
        outcome.stored = world.stored.values.flatMap { $0 }.map { stored in
            ModelOutcome.line(url: Self.url(stored.key), ModelFields(stored.head.fields))
        }.sorted()
        return outcome
    }

    /// The URL of a key, in the form used in requests here.
    static func url(_ key: [UInt8]) -> String {
        let text = String(decoding: key, as: UTF8.self)
        guard let port = text.firstRange(of: ":80/") else { return text }
        return text[..<port.lowerBound] + "/" + text[port.upperBound...]
    }
}

extension ModelFields {
    init(_ fields: Fields) {
        self.init(fields.lines.map { "\(fields.text(of: $0.name)): \(fields.text(of: $0.value))" })
    }
}

/// Runs one exchange after another. Each command gets its reply at once, so nothing else is in flight.
final class DrivenExchange {
    struct Unexpected: Error { let text: String }

    private let world: SimulatedWorld
    private var exchange: Exchange
    private var now = Messages.epoch
    /// The index of the step's next response.
    private var attempt = 0
    private var isFinished = false
    private var received: ModelResponse?
    private(set) var forwarded: [ModelPreconditions] = []
    private(set) var answer = ModelOutcome.Answer(status: 0)
    /// Whether the stale response that was served is to be validated in the background.
    private(set) var isToBeValidated = false

    init(_ world: SimulatedWorld) {
        self.world = world
        exchange = Exchange(context: world.context)
    }

    /// For a client.
    func ask(_ step: ModelStep) throws {
        begin(step, attempt: 0)
        exchange.begin(id: UInt64(step.number), context: world.context)
        let lines = step.request.fields.text + (step.request.method == "POST" ? ["Content-Length: 0"] : [])
        try Messages.read(Messages.requestText("\(step.request.method) \(step.request.url)", lines), into: &exchange.request)
        try handle(.requestHead(body: try BodyFraming.ofRequest(exchange.request).bodyLength, at: now), step)
        try end()
    }

    /// In the background: validates the response served by another exchange.
    func validate(_ step: ModelStep, served: DrivenExchange) throws {
        begin(step, attempt: 2)
        exchange.begin(id: UInt64(step.number), validating: served.exchange)
        try handle(.validates(at: now), step)
        try end()
    }

    private func begin(_ step: ModelStep, attempt: Int) {
        now = Timestamp(seconds: Int64(step.time))
        self.attempt = attempt
        isFinished = false
        isToBeValidated = false
        received = nil
        forwarded = []
        answer = ModelOutcome.Answer(status: 0)
    }

    private func end() throws {
        guard isFinished else { throw Unexpected(text: "the exchange waits in \(exchange.state)") }
    }

    // MARK: Events and commands

    private func handle(_ event: ExchangeEvent, _ step: ModelStep) throws {
        var commands = CommandBuffer()
        exchange.handle(event, into: &commands)
        for index in 0..<commands.count { try execute(commands[index], step) }
    }

    private func execute(_ command: ExchangeCommand, _ step: ModelStep) throws {
        switch command {
        case .lookUp:
            let found = (world.stored[exchange.key] ?? []).sorted { $0.isNewer(than: $1) }
            try handle(.lookedUp(found, isComplete: true, at: now), step)
        case .joinFetch: try handle(.leadsFetch(at: now), step)
        case .fetch: try fetch(step)
        case .validateInBackground: isToBeValidated = true
        case .sendStored:
            try noteHead(ofStored: true) { $0.writeStoredHead(at: $1, into: &$2) }
            try deliver(step)
        case .relay(let store):
            if !exchange.isBackground { try noteHead(ofStored: false) { $0.writeRelayedHead(at: $1, into: &$2) } }
            if store { try keep() }
            try deliver(step)
        case .freshen:
            if exchange.changes.freshened.isEmpty { throw Unexpected(text: "nothing to freshen") }
            for one in exchange.changes.freshened { world.replace(one.old, by: one.new) }
        case .remove: for removed in exchange.changes.removed { world.remove(removed) }
        case .invalidate: world.invalidate(exchange.changes.invalidatedKeys)
        case .sendError:
            var bytes: [UInt8] = []
            exchange.writeError(at: now, into: &bytes)
            answer = ModelOutcome.Answer(status: Int(try WrittenHead(bytes, method: exchange.request.method).status))
            try deliver(step)
        case .discardUpstreamBody, .releaseJoined: break
        case .finish: isFinished = true
        case .gatherRequestBody, .complete, .purge, .sendLocal, .checkBody, .sendChecked, .openTunnel, .splice, .completeUpstream,
            .cancelUpstream, .relaySwitched,
            .joinBody, .fillRest, .judgeRecordedChain, .judgeCredentials, .countRequest, .askApprover, .transform,
            .lookUpRecording,
            .findNearest,
            .beginRecording,
            .relayRecorded,
            .abortClient:
            throw Unexpected(text: "\(command)")
        }
    }

    private func fetch(_ step: ModelStep) throws {
        var bytes: [UInt8] = []
        exchange.writeForwardedHead(into: &bytes)
        var head = RequestHead()
        try Messages.read(String(decoding: bytes, as: UTF8.self), into: &head)
        let conditions = ModelPreconditions(ModelFields(head.fields))
        forwarded.append(conditions)
        let (delay, response) = step.response(attempt, to: conditions)
        attempt += 1
        now = now.advanced(seconds: Int64(delay))
        guard let response else { return try handle(.upstreamFailed(.connectionTerminated, at: now), step) }
        received = response
        let answered = ReceivedHead()
        try Messages.read(Messages.responseText(response.status, response.fields.text), into: &answered.head)
        let framing = try BodyFraming.ofResponse(answered.head, to: exchange.request.method)
        try handle(.upstreamHead(answered, body: framing.bodyLength, at: now), step)
    }

    private func keep() throws {
        let length = received?.fields.single("content-length").flatMap { Int($0) } ?? 0
        let body = [UInt8](repeating: 0x61, count: length)
        guard let stored = exchange.makeStoredResponse(body: .bytes(body)) else {
            throw Unexpected(text: "what is to be stored cannot be made")
        }
        world.put(stored)
    }

    private func deliver(_ step: ModelStep) throws { try handle(.deliveryEnded(isComplete: true, at: now), step) }

    private func noteHead(
        ofStored isStored: Bool, _ write: (borrowing Exchange, Timestamp, inout [UInt8]) -> Void
    ) throws {
        var bytes: [UInt8] = []
        write(exchange, now, &bytes)
        let head = try WrittenHead(bytes, method: exchange.request.method)
        // A relayed head is unchanged, even with an invalid Age.
        let faults = isStored ? head.faults(in: exchange) : []
        if !faults.isEmpty { throw Unexpected(text: "\(faults)") }
        let fields = ModelFields(head.lines.map { "\($0.name): \($0.value)" })
        answer = ModelOutcome.Answer(
            status: Int(head.status), age: isStored ? fields.single("age").flatMap { Int($0) } : nil, fields: fields)
    }
}
