import HTTPCaching
import HTTPMessage
import HTTPWire
import ServerTrust

/// One exchange, or what is kept of a former one: RFC 9111 says which, under the policy of the request.
///
/// The cache is one user's, so that `private` is no hindrance; in all else it is as strict as one that many share.
struct CachedCall {
    private let run: TransferRun
    private let request: PreparedRequest
    private let cache: any ResponseCaching
    private let head: RequestHead
    private let overrides: CacheOverrides
    private let key: CachedResponse.Key

    /// - Returns: `nil` where the cache has no part in it.
    init?(_ run: TransferRun, _ request: PreparedRequest) {
        guard run.usesCache, let cache = run.session.configuration.cache else { return nil }
        let fields = request.fields
        // Whoever asks for a part, or makes conditions of his own, wants the origin's answer.
        let asksOrigin: [KnownField] = [.range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange]
        if asksOrigin.contains(where: fields.contains) { return nil }
        let uri = Array(request.uri.description.utf8)
        guard var head = RequestHead(uri: uri.span, method: request.method.known) else { return nil }
        for line in fields.fields.lines {
            head.fields.append(name: fields.fields.name(of: line), value: fields.fields.value(of: line))
        }
        self.run = run
        self.request = request
        self.cache = cache
        self.head = head
        key = CachedResponse.Key(CacheKey(of: head).bytes)
        overrides = CacheOverrides(policy: request.cachePolicy, ignored: [.private])
    }

    func arrival() async throws(SessionError) -> TransferRun.Arrived {
        var directives = RequestDirectives(head)
        directives.trust = trustMark
        if let decision = Reuse.decideBeforeLookUp(for: directives, overrides: overrides) {
            return try await act(on: decision, nil)
        }
        let responses = await cache.responses(for: key).map(\.stored)
        if run.transfer.isCancelled { throw SessionError(.cancelled) }
        guard let place = Vary.select(among: responses, for: head) else {
            let reason: ForwardReason = responses.isEmpty ? .uriMiss : .varyMiss
            return try await act(on: Reuse.decideMiss(reason, for: directives, overrides: overrides), nil)
        }
        let stored = responses[place]
        return try await act(on: Reuse.decide(stored.facts, for: directives, overrides: overrides, at: .now), stored)
    }

    /// Of the policy by which the origin would be judged now: what came under another is not used.
    private var trustMark: UInt64 {
        guard request.uri.isSecure else { return 0 }
        let policy = run.session.trust?.policy(host: request.uri.host, port: request.uri.port)
        let now = POSIXTime(Timestamp.now)
        return policy?.inForce(at: now).mark(at: now) ?? 0
    }

    private func act(on decision: ReuseDecision, _ stored: StoredResponse?) async throws(SessionError) -> TransferRun.Arrived {
        switch decision {
        case .fresh(let terms):
            if let stored, let arrived = reused(stored, age: terms.age) { return arrived }
        case .staleAllowed(let terms, let reason):
            // Nobody validates behind the caller's back: what has to be validated is, first.
            if let stored, !reason.wantsValidation, let arrived = reused(stored, age: terms.age) { return arrived }
            if reason.wantsValidation, let stored { return try await validated(stored) }
        case .validate: if let stored { return try await validated(stored) }
        case .forward: break
        case .notSatisfiable: throw SessionError(.notStored)
        case .offlineMiss: throw SessionError(.offline)
        }
        return try await forwarded()
    }

    // MARK: What is kept

    private func reused(_ stored: StoredResponse, age: DeltaSeconds) -> TransferRun.Arrived? {
        guard case .bytes(let octets) = stored.body else { return nil }
        run.ledger.tell(.reused(request.uri))
        var fields = stored.head.fields
        fields.remove(.age)
        fields.append(name: "Age", value: "\(age.seconds)")
        let octetsOfAnswer = head.method == .head ? [] : octets
        return arrived(stored.head.status, fields, octetsOfAnswer)
    }

    private func arrived(_ status: Status, _ fields: Fields, _ octets: [UInt8]) -> TransferRun.Arrived {
        let link = ExchangeLink(run.session.loops, place: 0, transfer: run.transfer, taking: run.taking)
        let received = ExchangeLink.Head(
            status: status, fields: fields, framing: .length(UInt64(octets.count)), metrics: ExchangeMetrics(), chain: [])
        let isWhole = if case .whole = run.taking { true } else { false }
        let end = link.fill(received, isWhole ? [] : octets, count: octets.count)
        return TransferRun.Arrived(
            head: received, uri: request.uri, link: link, end: isWhole ? end : nil, octets: isWhole ? octets : [])
    }

    // MARK: What is asked for

    private func forwarded() async throws(SessionError) -> TransferRun.Arrived {
        var request = request
        if request.cachePolicy == .reloadAll { Validation.addReload(to: &request.fields.fields) }
        let requestTime = Timestamp.now
        let arrived = try await WireCall(run, request).arrival()
        await keep(arrived, requestTime: requestTime)
        return arrived
    }

    private func validated(_ stored: StoredResponse) async throws(SessionError) -> TransferRun.Arrived {
        var request = request
        Validation.addPreconditions(of: stored, to: &request.fields.fields)
        let requestTime = Timestamp.now
        let arrived = try await WireCall(run, request).arrival()
        guard arrived.head.status == .notModified else {
            await keep(arrived, requestTime: requestTime)
            return arrived
        }
        arrived.discard()
        guard let fresh = await freshened(stored, by: arrived, requestTime: requestTime), let reused = reused(fresh, age: .zero)
        else {
            // It speaks of something else than what is kept.
            await cache.remove(key)
            return try await forwarded()
        }
        return reused
    }

    private func freshened(
        _ stored: StoredResponse, by arrived: TransferRun.Arrived, requestTime: Timestamp
    ) async -> StoredResponse? {
        let response = Self.responseHead(arrived.head)
        guard !Freshening.identified(by: response, among: [stored], asked: stored).isEmpty else { return nil }
        let outcome = Freshening.freshened(
            stored, by: response, request: head, overrides: overrides, requestTime: requestTime, responseTime: .now)
        switch outcome {
        case .freshened(let new):
            let vouched = new.vouchedFor(underTrust: arrived.head.metrics.trustMark, by: nil)
            await cache.store(CachedResponse(vouched))
            return vouched
        case .usedOnce(let once, _): return once
        case .usedAndRemoved(let once, _):
            await cache.remove(key)
            return once
        }
    }

    // MARK: Keeping

    private func keep(_ arrived: TransferRun.Arrived, requestTime: Timestamp) async {
        let response = Self.responseHead(arrived.head)
        for key in Invalidation.keys(request: head, response: response) { await cache.remove(CachedResponse.Key(key)) }
        // What is taken piece by piece is nowhere whole.
        guard arrived.end?.failure == nil, arrived.end != nil,
            arrived.octets.count <= run.session.configuration.limits.cachedBodyLength
        else { return }
        var (fields, body) = (arrived.head.fields, arrived.octets)
        guard case .store = storability(response, requestTime) else { return }
        if let hook = run.session.configuration.willCache {
            let candidate = CacheCandidate(
                uri: request.uri, status: Int(response.status.code), fields: HTTPFields(fields), body: body)
            switch await hook(candidate) {
            case .store: break
            case .drop: return
            case .modify(let newFields, let newBody): (fields, body) = (newFields.fields, newBody)
            }
        }
        var final = response
        final.fields = fields
        final.fields.remove(.contentLength)
        guard case .store(var facts, _) = storability(final, requestTime) else { return }
        facts.trust = arrived.head.metrics.trustMark
        let siblings = await cache.responses(for: key).map(\.stored)
        guard let prepared = StoredFields.prepare(final, to: head, facts: facts, siblings: siblings) else { return }
        await cache.store(
            CachedResponse(
                StoredResponse(
                    key: key.octets, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
                    requestTime: requestTime, body: .bytes(body))))
        run.ledger.tell(.stored(request.uri))
    }

    private func storability(_ response: ResponseHead, _ requestTime: Timestamp) -> StorageDecision {
        Storability.decide(request: head, response: response, overrides: overrides, requestTime: requestTime, responseTime: .now)
    }

    private static func responseHead(_ received: ExchangeLink.Head) -> ResponseHead {
        var head = ResponseHead()
        head.status = received.status
        head.fields = received.fields
        return head
    }
}
