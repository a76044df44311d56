import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ResponseStore

/// What the store and other threads are asked: each question has its answer as an event.
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
            connection?.flush()
        }
        lookUp = reply
        store.lookUp(exchange.key, reply: reply)
    }

    private func responses(_ result: LookUpResult) -> [StoredResponse] {
        switch result {
        case .found(let variants): variants.responses
        case .absent: []
        // What memory has is then all there is.
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

    /// Before the exchange is told what is stored as a whole.
    private func tellParts() {
        guard store.hasPartials || exchange.isForPart else { return }
        let stored = store.partials(of: exchange.key)
        guard exchange.isForPart || !stored.isEmpty else { return }
        tell(.partsFound(stored, inFlight: store.bodiesUnderWay(of: exchange.key)))
    }

    /// Who asks right behind a part finds it: the look-up comes once the store has written it, unless that is behind.
    private func awaitsPart() -> Bool {
        guard store.hasPending else { return false }
        let epoch = epoch
        return store.whenPartIsWritten(
            of: exchange.key,
            loop.reply { [self] (_: PendingOutcome) in
                guard self.epoch == epoch else { return }
                lookUpInMemory()
                connection?.flush()
            })
    }

    /// Nobody joins what is under way any more; what it brings the store refuses.
    func invalidate() {
        worker.fetches.invalidate(exchange.changes.invalidatedKeys)
        store.invalidate(exchange.changes.invalidatedKeys)
    }

    /// Answers once what is covered is deleted, which for keys comes with the acknowledgement.
    func purge() {
        let epoch = epoch
        let reply = loop.reply { [self] (count: Int?) in
            guard self.epoch == epoch else { return }
            handle(.purged(count: count, at: now))
            connection?.flush()
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

    /// Who asks: whoever is in a tunnel has proved it when the tunnel was asked for.
    var requestSender: RequestSender {
        // Who may purge is known by address.
        let address = exchange.asksForAddress ? peer.address : nil
        guard worker.identifiesClients else { return RequestSender(address: address) }
        if let connection, connection.tunnel != nil || !connection.user.isEmpty {
            return RequestSender(address: address, user: connection.user)
        }
        return RequestSender(address: address, needsCredentials: worker.settings.admission.asks(peer))
    }

    /// Known at once, or looked at off the loop.
    func judgeCredentials() {
        // Asked only where both are there.
        guard let credentials = exchange.incoming.credentials, let passwords = worker.settings.admission.passwords else {
            return handle(.credentialsJudged(.refused, at: now))
        }
        let epoch = epoch
        let judgement = worker.shared.credentials.judge(credentials, by: passwords, from: peer.address, at: loop.now) {
            loop.reply { [self] (judgement: CredentialsJudgement) in
                guard self.epoch == epoch else { return }
                handle(.credentialsJudged(judgement, at: now))
                connection?.flush()
            }
        }
        if let judgement { handle(.credentialsJudged(judgement, at: now)) }
    }

    // MARK: Recorded chains

    /// Judged off the loop, since signatures and revocation lists take their time.
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
            connection?.flush()
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
    /// `nil` where nobody knows how much is to come.
    fileprivate var underWay: BodyUnderWay? {
        guard let count = plan.length, let whole = plan.wholeLength else { return nil }
        let start = plan.part?.start ?? 0
        return BodyUnderWay(
            response: plan.response, row: row, range: start..<start + count, wholeLength: whole, reached: start + length,
            isInPlaceOfPart: plan.isInPlaceOfPart)
    }
}
