import HTTPCaching
import HTTPMessage

/// An answer of the origin's on its way into the cache, from before its request goes out.
struct CacheKeeping: Sendable {
    private let call: CachedCall
    /// What was kept and could have been the answer.
    private let former: StoredResponse?
    let requestTime = Timestamp.now
    let moment: InvalidationEpoch
    private(set) var response = ResponseHead()
    private(set) var responseTime = Timestamp.now
    private var trustMark: UInt64 = 0
    private var chain: RecordedChain?

    init(_ call: CachedCall, over former: StoredResponse?) {
        self.call = call
        self.former = former
        moment = call.cache.moment(for: call.key)
    }

    mutating func receive(_ head: ResponseChannel.Head) {
        response.status = head.status
        response.fields = head.fields
        responseTime = head.time
        trustMark = head.metrics.trustMark
        chain = head.recordedChain
    }

    /// Whoever has just been judged says that it holds.
    func withTrust(_ response: StoredResponse) -> StoredResponse { response.withTrust(policyMark: trustMark, chain: chain) }

    // MARK: Keeping

    /// Keeps it where it may be kept: at once where its body is at hand, else as the body is read.
    func keep(_ arrived: TransferTask.OpenResponse) async {
        for key in Invalidation.keys(request: call.head, response: response) {
            await call.cache.remove(CachedResponse.Key(key))
        }
        switch storability(response) {
        case .doNotStore(let refusal): await removeFormer(refusal)
        case .store:
            guard let end = arrived.end else { return await keepAsRead(arrived) }
            if end.failure == nil { await keep(arrived.octets, CachedResponse.Trailers(end.trailers)) }
        }
    }

    /// The origin has answered with another representation, which may not be kept: the former one is untrue (RFC 9111 §4.3.3).
    private func removeFormer(_ refusal: StorageRefusal) async {
        guard let former, !refusal.isOfRequest else { return }
        switch response.status.code {
        case 200...303, 305...399, 404, 410: await call.cache.remove(CachedResponse(former))
        default: break
        }
    }

    /// With its body at hand, after the caller's hook.
    func keep(_ octets: [UInt8], _ trailers: CachedResponse.Trailers) async {
        var (fields, body) = (response.fields, octets)
        if let hook = configuration.willCache {
            if octets.count > configuration.limits.cachedBodyLength { return }
            let candidate = CacheCandidate(
                uri: call.request.uri, status: Int(response.status.code), fields: HTTPFields(fields), body: body)
            switch await hook(candidate) {
            case .store: break
            case .drop: return
            case .modify(let newFields, let newBody): (fields, body) = (newFields.fields, newBody)
            }
        }
        guard let stored = await stored(with: fields) else { return }
        if await call.cache.store(stored.with(body, trailers), since: moment) { call.run.ledger.tell(.stored(call.request.uri)) }
    }

    private func keepAsRead(_ arrived: TransferTask.OpenResponse) async {
        var length: UInt64?
        if case .length(let known) = arrived.head.framing { length = known }
        if configuration.willCache != nil {
            if length ?? 0 > UInt64(configuration.limits.cachedBodyLength) { return }
            return arrived.link.record(BodyRecording(gathering: configuration.limits.cachedBodyLength, for: self))
        }
        guard let stored = await stored(with: response.fields),
            let writer = await call.cache.beginStoring(stored, length: length, since: moment)
        else { return }
        arrived.link.record(BodyRecording(writer, for: self))
    }

    func noteStored() { call.run.ledger.tell(.stored(call.request.uri)) }

    private var configuration: SessionConfiguration { call.run.session.configuration }

    /// Without its body.
    private func stored(with fields: Fields) async -> CachedResponse? {
        var final = response
        final.fields = fields
        final.fields.remove(.contentLength)
        guard case .store(var facts, _) = storability(final) else { return nil }
        facts.trust = trustMark
        guard let prepared = StoredFields.prepare(final, to: call.head, facts: facts) else { return nil }
        return CachedResponse(
            StoredResponse(
                key: call.key.octets, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
                requestTime: requestTime, body: .bytes([]), chain: chain))
    }

    private func storability(_ response: ResponseHead) -> StorageDecision {
        Storability.decide(
            request: call.head, response: response, overrides: call.overrides, requestTime: requestTime,
            responseTime: responseTime)
    }
}
