import HTTPCaching
import HTTPMessage
import HTTPWire
import ServerTrust

/// One call that uses the cache: it either sends a request or serves a stored response, as RFC 9111 and the request's cache policy
/// require. `CachingSequence` decides; this type looks up, sends, serves and stores.
///
/// The cache belongs to one user, so `private` does not prevent storing. Otherwise the rules for shared caches apply.
struct CachedCall: Sendable {
    let run: TransferTask
    let request: PreparedRequest
    let cache: any ResponseCaching
    let head: RequestHead
    let directives: RequestDirectives
    let overrides: CacheOverrides
    let key: CachedResponse.Key

    /// - Returns: `nil` if the cache is not used for this request.
    init?(_ run: TransferTask, _ request: PreparedRequest) {
        guard let cache = run.session.configuration.cache else { return nil }
        let fields = request.fields
        // Only the origin can answer requests with a range or with the caller's own preconditions, and GET or HEAD requests
        // with content (checked below).
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
        var overrides = CacheOverrides(policy: request.cachePolicy, ignored: [.private])
        overrides.isDisconnected = run.session.isOffline || request.options?.isOffline == true
        self.overrides = overrides
        var directives = RequestDirectives(head)
        directives.trust = Self.trustMark(of: request, in: run.session)
        self.directives = directives
    }

    /// The mark of the trust policy that applies to the origin now: a response received under another policy is not used.
    private static func trustMark(of request: PreparedRequest, in session: HTTPSession) -> UInt64 {
        guard request.uri.isSecure else { return 0 }
        let policy = session.trust?.policy(host: request.uri.host, port: request.uri.port)
        let now = POSIXTime(Timestamp.now)
        return policy?.active(at: now).mark(at: now) ?? 0
    }

    func arrival() async throws(SessionError) -> TransferTask.OpenResponse {
        var sequence = CachingSequence(request: head, directives: directives, overrides: overrides)
        var step = sequence.begin()
        var answer = Answer()
        while true {
            switch step {
            case .lookUp:
                let stored = await cache.responses(for: key).map(\.stored)
                if run.transfer.isCancelled { throw SessionError(.cancelled) }
                step = sequence.found(stored, at: .now)
            case .serve(let stored, let age, let validatesInBackground):
                if let served = try await reused(stored, age: age) {
                    answer.arrived?.discard()
                    if validatesInBackground { self.validateInBackground(stored) }
                    let use = CacheUse(serving: sequence.decision, insteadOf: answer.arrived?.head.status)
                    return served.with(use, settlement(of: stored))
                }
                step = sequence.lostBody()
            case .send(let validating):
                answer.arrived?.discard()
                (step, answer) = await ask(validating: validating, in: &sequence)
            case .deliver(let decision):
                guard let (arrived, keeping) = answer.received else { preconditionFailure("a response was received") }
                var use = CacheUse(delivering: sequence.decision)
                guard case .store = decision else { return arrived.with(use) }
                if run.check != nil { return arrived.with(use, .keep(keeping)) }
                use.isStored = await keeping.keep(arrived)
                return arrived.with(use)
            case .fail(.notStored): throw SessionError(.notStored)
            case .fail(.disconnected): throw SessionError(.offline)
            case .fail(.origin): throw answer.failure ?? SessionError(.connectionFailed)
            case .finish: preconditionFailure("the caller waits for a response")
            }
        }
    }

    /// A stored response that the caller refuses is removed, unless the request may not be sent to the origin.
    private func settlement(of stored: StoredResponse) -> CacheSettlement? {
        run.check == nil || request.cachePolicy == .storedOnly ? nil : .served(CachedResponse(stored), by: cache)
    }

    // MARK: Requests to the origin

    /// The outcome of the last request to the origin.
    struct Answer {
        var received: (TransferTask.OpenResponse, CacheKeeping)?
        var failure: SessionError?

        var arrived: TransferTask.OpenResponse? { received?.0 }
    }

    /// Sends the request, and applies to the cache the changes that its response requires.
    func ask(
        validating stored: StoredResponse?, in sequence: inout CachingSequence
    ) async -> (CachingStep, Answer) {
        var request = request
        if let stored {
            var fields = request.fields
            Validation.addPreconditions(of: stored, to: &fields.fields)
            request = request.with(fields: fields)
        }
        request = request.reloading
        var keeping = CacheKeeping(self)
        let arrived: TransferTask.OpenResponse
        do throws(SessionError) { arrived = try await NetworkAttempt(run, request).arrival() } catch {
            return (sequence.failed(Self.failure(error), at: .now), Answer(failure: error))
        }
        keeping.receive(arrived.head)
        let stored = sequence.needsStored(for: keeping.origin.head) ? await cache.responses(for: key).map(\.stored) : []
        let step = sequence.received(keeping.origin, stored: stored, at: .now)
        for change in sequence.takeChanges() { await carryOut(change, since: keeping.moment) }
        return (step, Answer(received: (arrived, keeping)))
    }

    private func carryOut(_ change: StoreChange, since moment: InvalidationEpoch) async {
        switch change {
        case .freshen(let old, let new): await cache.freshen(CachedResponse(old), as: CachedResponse(new), since: moment)
        case .remove(let response): await cache.remove(CachedResponse(response))
        case .invalidate(let key): await cache.remove(CachedResponse.Key(key))
        }
    }

    /// The kind of failure for which a stored response may be served; `nil` for errors of the caller and refusals by policy.
    private static func failure(_ error: SessionError) -> OriginFailure? {
        // Part of a response has arrived, so the origin did answer: no stored response replaces that answer.
        if error.response != nil { return nil }
        switch error.code {
        case .offline: return .disconnected
        case .dnsError, .connectionRefused, .connectionFailed, .tlsHandshakeFailed, .proxyRefused, .timeout,
            .connectionTerminated, .malformedResponse:
            return .error
        default: return nil
        }
    }
}

extension PreparedRequest {
    /// The request with what its policy asks of other caches.
    var reloading: PreparedRequest {
        guard cachePolicy == .reloadAll else { return self }
        var fields = fields
        Validation.addReload(to: &fields.fields)
        return with(fields: fields)
    }
}
