import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ProxyPolicy
import ResponseStore

/// Queries to the store and to other threads; each result comes as an event.
extension ExchangeDriver {
    // MARK: The store

    func lookUpInMemory() {
        if awaitsPart() { return }
        tellParts()
        switch store.inMemory(exchange.key.span) {
        case .found(let variants):
            handle(.lookedUp(variants.responses, isComplete: variants.isComplete, at: now))
        case .absent:
            handle(.lookedUp([], isComplete: true, at: now))
        case .unknown:
            // Memory cannot tell whether the key is stored: the driver looks on disk at once, without another command from the
            // exchange.
            lookUpOnDisk()
        }
    }

    func lookUpOnDisk() {
        let epoch = epoch
        let reply = loop.reply { [self] (result: LookUpResult) in
            guard self.epoch == epoch else { return }
            lookUp = nil
            tellParts()
            handle(.lookedUp(responses(result), isComplete: true, at: now))
            client?.flush()
        }
        lookUp = reply
        store.lookUp(exchange.key, reply: reply)
    }

    private func responses(_ result: LookUpResult) -> [StoredResponse] {
        switch result {
        case .found(let variants): variants.responses
        case .absent: []
        // The disk is not available: only the responses in memory can be found.
        case .unavailable: responsesInMemory
        }
    }

    var newestInMemory: StoredResponse? { responsesInMemory.first }

    private var responsesInMemory: [StoredResponse] {
        let key = exchange.key
        let answer = store.inMemory(key.span)
        guard case .found(let variants) = answer else { return [] }
        return variants.responses
    }

    /// Tells the exchange about stored parts and bodies in flight, before the whole responses.
    private func tellParts() {
        guard store.hasPartials || exchange.isForPart else { return }
        let stored = store.partials(of: exchange.key)
        guard exchange.isForPart || !stored.isEmpty else { return }
        tell(.partsFound(stored, inFlight: store.bodiesUnderWay(of: exchange.key)))
    }

    /// Waits until a part that has just ended is written, so that this request finds that part.
    /// - Returns: `false`, without waiting, if there is no such part or the writer is behind.
    private func awaitsPart() -> Bool {
        guard store.hasPending else { return false }
        let epoch = epoch
        return store.whenPartIsWritten(
            of: exchange.key,
            loop.reply { [self] (_: PendingOutcome) in
                guard self.epoch == epoch else { return }
                lookUpInMemory()
                client?.flush()
            })
    }

    /// Invalidates keys: no further request joins their fetches, and the store refuses their responses.
    func invalidate() {
        worker.fetches.invalidate(exchange.changes.invalidatedKeys)
        store.invalidate(exchange.changes.invalidatedKeys)
        worker.shared.tier?.invalidate(exchange.changes.invalidatedKeys)
    }

    /// Purges stored responses. The exchange continues when they are deleted. A purge of keys is acknowledged at that point.
    func purge() {
        let epoch = epoch
        let reply = loop.reply { [self] (count: Int?) in
            guard self.epoch == epoch else { return }
            handle(.purged(count: count, at: now))
            client?.flush()
        }
        let isTaken = worker.shared.purge(.keys(exchange.incoming.purge?.keys ?? []), isSoft: false, at: now) { progress in
            switch progress {
            case .inEffect: break
            case .done(let count): reply.send(count)
            case .interrupted: reply.send(nil)
            }
        }
        if !isTaken { reply.send(nil) }
    }

    // MARK: Credentials

    /// The sender of the request. A client in a tunnel authenticated when it opened the tunnel.
    var requestSender: RequestSender {
        // PURGE needs the address, because the clients that may purge are listed by address.
        var facts = ClientFacts(address: exchange.asksForClient ? peer.address : nil)
        if let client { facts.certificateNames = client.certificateNames }
        guard worker.identifiesClients else { return RequestSender(facts) }
        if let client, client.tunnel != nil || !client.user.isEmpty {
            facts.user = client.user
            return RequestSender(facts)
        }
        return RequestSender(facts, needsCredentials: worker.settings.admission.asks(peer))
    }

    /// Verifies the client's name and password. The result is known at once, or arrives later from another thread.
    func judgeCredentials() {
        // The exchange gives this command only if the request has credentials and a password file is set.
        guard let credentials = exchange.incoming.credentials, let passwords = worker.settings.admission.passwords else {
            return handle(.credentialsJudged(.refused, at: now))
        }
        let epoch = epoch
        let judgement = worker.shared.credentials.judge(credentials, by: passwords, from: peer.address, at: loop.now) {
            loop.reply { [self] (judgement: CredentialsJudgement) in
                guard self.epoch == epoch else { return }
                handle(.credentialsJudged(judgement, at: now))
                client?.flush()
            }
        }
        if let judgement { handle(.credentialsJudged(judgement, at: now)) }
    }

    // MARK: Recorded chains

    /// Verifies the recorded chain on another thread, because signatures and revocation lists take time.
    func judgeRecordedChain() {
        let context = exchange.context
        guard let chain = exchange.cache.selected?.chain, let judge = context.judgeChain else {
            return handle(.recordedChainJudged(.unjudged, at: now))
        }
        let host = String(decoding: exchange.originHost, as: UTF8.self)
        let (port, time, epoch) = (exchange.originPort, now, epoch)
        let reply = loop.reply { [self] (judgement: ChainJudgement) in
            guard self.epoch == epoch else { return }
            handle(.recordedChainJudged(judgement, at: now))
            client?.flush()
        }
        let isTaken = worker.checks.run(.recordedChain, limit: context.limits.waitingJudgements, reply: reply) {
            judge(chain, host, port, time)
        }
        if isTaken { return }
        loop.forget(reply)
        handle(.recordedChainJudged(.unjudged, at: now))
    }
}

extension ResponseStore {
    func bodiesUnderWay(of key: [UInt8]) -> [BodyUnderWay] {
        hasPending ? pendingResponses(of: key).compactMap { $0.underWay } : []
    }
}

extension PendingResponse {
    /// The pending response as a body in flight that other requests may join; `nil` if its length is unknown.
    fileprivate var underWay: BodyUnderWay? {
        guard let count = plan.length, let whole = plan.wholeLength else { return nil }
        let start = plan.part?.start ?? 0
        return BodyUnderWay(
            response: plan.response, row: row, range: start..<start + count, wholeLength: whole, reached: start + length,
            isInPlaceOfPart: plan.isInPlaceOfPart)
    }
}
