import HTTPCaching
import HTTPMessage

/// Stores one response of the origin in the cache; created before its request is sent.
struct CacheKeeping: Sendable {
    private let call: CachedCall
    let moment: InvalidationEpoch
    private let requestTime = Timestamp.now
    /// The response's head, with the request and response times and the trust policy it was received under.
    private(set) var origin: OriginResponse

    init(_ call: CachedCall) {
        self.call = call
        moment = call.cache.moment(for: call.key)
        origin = OriginResponse(head: ResponseHead(), requestTime: requestTime, responseTime: requestTime)
    }

    mutating func receive(_ head: ResponseChannel.Head) {
        var response = ResponseHead()
        response.status = head.status
        response.fields = head.fields
        origin = OriginResponse(
            head: response, requestTime: requestTime, responseTime: head.time, trust: head.metrics.trustMark,
            chain: head.recordedChain)
    }

    // MARK: Keeping

    /// Stores the response if it may be stored: at once if its body has arrived, else while the body is read.
    /// - Returns: whether it is stored, or will be stored once the body is read.
    @discardableResult
    func keep(_ arrived: TransferTask.OpenResponse) async -> Bool {
        guard let end = arrived.end else { return await keepAsRead(arrived) }
        return end.failure == nil ? await keep(arrived.octets, CachedResponse.Trailers(end.trailers)) : false
    }

    /// Stores a response whose body has arrived, after calling `willCache`.
    @discardableResult
    func keep(_ octets: [UInt8], _ trailers: CachedResponse.Trailers) async -> Bool {
        var (fields, body) = (origin.head.fields, octets)
        if let hook = willCache {
            if octets.count > configuration.limits.cachedBodyLength { return false }
            let candidate = CacheCandidate(
                uri: call.request.uri, status: Int(origin.head.status.code), fields: SessionFields(fields), body: body)
            switch await hook(candidate) {
            case .store: break
            case .drop: return false
            case .modify(let newFields, let newBody): (fields, body) = (newFields.fields, newBody)
            }
        }
        guard let stored = await stored(with: fields), await call.cache.store(stored.with(body, trailers), since: moment) else {
            return false
        }
        call.run.ledger.tell(.stored(call.request.uri))
        return true
    }

    private func keepAsRead(_ arrived: TransferTask.OpenResponse) async -> Bool {
        var length: UInt64?
        if case .length(let known) = arrived.head.framing { length = known }
        if willCache != nil {
            if length ?? 0 > UInt64(configuration.limits.cachedBodyLength) { return false }
            arrived.link.record(BodyRecording(gathering: configuration.limits.cachedBodyLength, for: self))
            return true
        }
        guard let stored = await stored(with: origin.head.fields),
            let writer = await call.cache.beginStoring(stored, length: length, since: moment)
        else { return false }
        arrived.link.record(BodyRecording(writer, for: self))
        return true
    }

    func noteStored() { call.run.ledger.tell(.stored(call.request.uri)) }

    private var configuration: SessionConfiguration { call.run.session.configuration }

    private var willCache: (@Sendable (CacheCandidate) async -> CacheDecision)? {
        call.request.options?.willCache ?? configuration.willCache
    }

    /// The response to store, without its body.
    private func stored(with fields: Fields) async -> CachedResponse? {
        var final = origin.head
        final.fields = fields
        final.fields.remove(.contentLength)
        guard case .store(var facts, _) = storability(final) else { return nil }
        facts.trust = origin.trust
        guard let prepared = StoredFields.prepare(final, to: call.head, facts: facts) else { return nil }
        return CachedResponse(
            StoredResponse(
                key: call.key.octets, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
                requestTime: origin.requestTime, body: .bytes([]), chain: origin.chain))
    }

    private func storability(_ response: ResponseHead) -> StorageDecision {
        Storability.decide(
            request: call.head, response: response, overrides: call.overrides, requestTime: origin.requestTime,
            responseTime: origin.responseTime)
    }
}
