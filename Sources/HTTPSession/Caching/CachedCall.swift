import HTTPCaching
import HTTPMessage
import HTTPWire
import ServerTrust

/// One exchange, or what is kept of a former one: RFC 9111 says which, under the policy of the request.
///
/// The cache is one user's, so that `private` is no hindrance; in all else it is as strict as one that many share.
struct CachedCall: Sendable {
    let run: TransferTask
    let request: PreparedRequest
    let cache: any ResponseCaching
    let head: RequestHead
    let directives: RequestDirectives
    let overrides: CacheOverrides
    let key: CachedResponse.Key

    /// - Returns: `nil` where the cache has no part in it.
    init?(_ run: TransferTask, _ request: PreparedRequest) {
        guard let cache = run.session.configuration.cache else { return nil }
        let fields = request.fields
        // Whoever asks for a part, makes conditions of his own, or asks by content, wants the origin's answer.
        let asksOrigin: [KnownField] = [.range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange]
        if asksOrigin.contains(where: fields.contains) { return nil }
        if request.method.known == .get || request.method.known == .head {
            guard case .none = request.body else { return nil }
        }
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
        var directives = RequestDirectives(head)
        directives.trust = Self.trustMark(of: request, in: run.session)
        self.directives = directives
    }

    /// Of the policy by which the origin would be judged now: what came under another is not used.
    private static func trustMark(of request: PreparedRequest, in session: HTTPSession) -> UInt64 {
        guard request.uri.isSecure else { return 0 }
        let policy = session.trust?.policy(host: request.uri.host, port: request.uri.port)
        let now = POSIXTime(Timestamp.now)
        return policy?.active(at: now).mark(at: now) ?? 0
    }

    func arrival() async throws(SessionError) -> TransferTask.OpenResponse {
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

    private func act(on decision: ReuseDecision, _ stored: StoredResponse?) async throws(SessionError)
        -> TransferTask.OpenResponse
    {
        switch decision {
        case .fresh(let terms):
            if let stored, let arrived = try await reused(stored, age: terms.age) { return arrived }
        case .staleAllowed(let terms, let reason):
            if let stored, let arrived = try await reused(stored, age: terms.age) {
                if reason.wantsValidation { validateInBackground(stored) }
                return arrived
            }
        case .validate: if let stored { return try await validated(stored) }
        // Only the origin can say whether the request is for what is kept: then it stands in for nothing.
        case .forward(let reason): return try await forwarded(over: reason == .originCondition ? nil : stored)
        case .notSatisfiable: throw SessionError(.notStored)
        case .offlineMiss: throw SessionError(.offline)
        }
        return try await forwarded(over: nil)
    }

    // MARK: Asking the origin

    /// What came of asking.
    private enum Answer {
        case origin(TransferTask.OpenResponse, CacheKeeping)
        /// The origin cannot answer, and this may stand in for it (RFC 5861 §4).
        case standIn(TransferTask.OpenResponse)
    }

    private func answer(
        to request: PreparedRequest, over stored: StoredResponse?, mayStandIn: Bool = true
    ) async throws(SessionError) -> Answer {
        let substitute = mayStandIn ? stored : nil
        var keeping = CacheKeeping(self, over: stored)
        let arrived: TransferTask.OpenResponse
        do throws(SessionError) { arrived = try await NetworkAttempt(run, request).arrival() } catch {
            if let failure = Self.failure(error), let standIn = try await standIn(substitute, for: failure) {
                return .standIn(standIn)
            }
            throw error
        }
        if Reuse.isError(arrived.head.status), let standIn = try await standIn(substitute, for: .error) {
            arrived.discard()
            return .standIn(standIn)
        }
        keeping.receive(arrived.head)
        return .origin(arrived, keeping)
    }

    private func standIn(
        _ stored: StoredResponse?, for failure: OriginFailure
    ) async throws(SessionError) -> TransferTask.OpenResponse? {
        guard let stored,
            case .staleAllowed(let terms, _)? = Reuse.staleAfterFailure(
                failure, stored.facts, for: directives, overrides: overrides, at: .now)
        else { return nil }
        return try await reused(stored, age: terms.age)
    }

    /// How the way to the origin failed, as far as something kept may stand in; `nil` for what the caller did, or a policy forbids.
    private static func failure(_ error: SessionError) -> OriginFailure? {
        // What has begun to come is the origin's answer.
        if error.response != nil { return nil }
        switch error.code {
        case .offline: return .disconnected
        case .dnsError, .connectionRefused, .connectionFailed, .tlsHandshakeFailed, .proxyRefused, .timeout,
            .connectionTerminated, .malformedResponse:
            return .error
        default: return nil
        }
    }

    private func forwarded(over stored: StoredResponse?) async throws(SessionError) -> TransferTask.OpenResponse {
        var request = request
        if request.cachePolicy == .reloadAll {
            var fields = request.fields
            Validation.addReload(to: &fields.fields)
            request = request.with(fields: fields)
        }
        switch try await answer(to: request, over: stored) {
        case .standIn(let arrived): return arrived
        case .origin(let arrived, let keeping):
            if head.method == .head, arrived.head.status == .ok { await updateByHEAD(keeping) }
            await keeping.keep(arrived)
            return arrived
        }
    }

    private func validated(_ stored: StoredResponse) async throws(SessionError) -> TransferTask.OpenResponse {
        switch try await validation(of: stored) {
        case .holds(let fresh):
            if let reused = try await reused(fresh, age: .zero) { return reused }
            return try await forwarded(over: nil)
        case .standIn(let arrived): return arrived
        case .replaced(let arrived, let keeping):
            await keeping.keep(arrived)
            return arrived
        // It speaks of something else than what is kept.
        case .unclear: return try await forwarded(over: nil)
        }
    }

    // MARK: Validation

    enum Validated {
        case holds(StoredResponse)
        case replaced(TransferTask.OpenResponse, CacheKeeping)
        case standIn(TransferTask.OpenResponse)
        case unclear
    }

    /// - Parameter mayStandIn: what is kept may be delivered where the origin cannot answer.
    func validation(of stored: StoredResponse, mayStandIn: Bool = true) async throws(SessionError) -> Validated {
        var fields = request.fields
        Validation.addPreconditions(of: stored, to: &fields.fields)
        let request = request.with(fields: fields)
        let (arrived, keeping): (TransferTask.OpenResponse, CacheKeeping)
        switch try await answer(to: request, over: stored, mayStandIn: mayStandIn) {
        case .standIn(let standIn): return .standIn(standIn)
        case .origin(let found, let its): (arrived, keeping) = (found, its)
        }
        guard arrived.head.status == .notModified else { return .replaced(arrived, keeping) }
        arrived.discard()
        guard !Freshening.identified(by: keeping.response, among: [stored], asked: stored).isEmpty else {
            await cache.remove(CachedResponse(stored))
            return .unclear
        }
        let outcome = Freshening.freshened(
            stored, by: keeping.response, request: head, overrides: overrides, requestTime: keeping.requestTime,
            responseTime: keeping.responseTime)
        switch outcome {
        case .freshened(let new):
            let vouched = keeping.withTrust(new)
            await cache.freshen(CachedResponse(stored), as: CachedResponse(vouched), since: keeping.moment)
            return .holds(vouched)
        case .usedOnce(let once, _): return .holds(once)
        case .usedAndRemoved(let once, _):
            await cache.remove(CachedResponse(stored))
            return .holds(once)
        }
    }

    /// What a 200 to HEAD tells of what is kept (RFC 9111 §4.3.5).
    private func updateByHEAD(_ keeping: CacheKeeping) async {
        for kept in await cache.responses(for: key) where Vary.select(among: [kept.stored], for: head) != nil {
            let effect = Freshening.effect(
                ofHEAD: keeping.response, on: kept.stored, request: head, overrides: overrides,
                requestTime: keeping.requestTime, responseTime: keeping.responseTime)
            switch effect {
            case .freshened(let new):
                // Its body came under the policy that it came under, whoever spoke of it now.
                let same = new.withTrust(policyMark: kept.stored.facts.trust, chain: kept.stored.chain)
                await cache.freshen(kept, as: CachedResponse(same), since: keeping.moment)
            case .outdated: await cache.remove(kept)
            case .none: break
            }
        }
    }
}
