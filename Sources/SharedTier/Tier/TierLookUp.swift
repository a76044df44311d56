import EventLoop
import HTTPCaching
import HTTPMessage
import RESPWire
import ResponseStore

/// One look-up. Confined to its loop; the worker keeps it until it has replied.
///
/// States and moves: asking (the variants of the key) ──▶ reading (the pieces of the chosen one) ──▶ ended; or asking ──nothing usable──▶
/// leading (asks for the lease) ──▶ ended, or ──another node has the lease──▶ waiting ──▶ asking again. Each state but waiting ends after
/// the engine's timeout.
final class TierLookUp: TimerHandler {
    private enum State { case asking, reading, leading, waiting, ended }

    private let lookUp: SharedLookUp
    private unowned let worker: TierWorker
    private let reply: Reply<SharedAnswer>
    private let name: [UInt8]
    private var state = State.asking
    /// Counts the rounds, to recognize replies that arrive too late.
    private var round = 0
    private var timer: TimerID?
    private var waitEnd = MonotonicTime.never
    private var pause = TierLookUp.firstPause
    private var hasWaited = false
    private var hasRefused = false
    /// A stale response, for the caller to validate.
    private var stale: FoundEntry?
    private var pieces: [[UInt8]?] = []
    private var isFresh = true

    /// The pauses between two looks at a response that another node fetches, in milliseconds.
    private static let firstPause = 5
    private static let greatestPause = 50

    init(_ lookUp: SharedLookUp, for worker: TierWorker, _ reply: Reply<SharedAnswer>) {
        self.lookUp = lookUp
        self.worker = worker
        self.reply = reply
        name = worker.coder.name(ofKey: lookUp.key)
    }

    func begin(sentAt: MonotonicTime) {
        timer = worker.loop.makeTimer(self)
        ask(from: sentAt)
    }

    func giveUp() { end(.absent, .unavailable) }

    // MARK: The variants

    private func ask(from start: MonotonicTime) {
        state = .asking
        stale = nil
        // A response that this node has invalidated, and of which the engine does not know it yet, is not used.
        if worker.invalidations.isWaiting(lookUp.key) { return end(.absent, .unavailable) }
        send(["HGETALL", RESPWord(worker.keys.entry(name))], from: start) { $0.receivedVariants($1) }
    }

    private func send(
        _ words: [RESPWord], from start: MonotonicTime, _ completion: @escaping (TierLookUp, RESPValue) -> Void
    ) {
        let key = worker.keys.entry(name)
        guard let node = worker.router.node(for: key), node.breaker.permits(at: worker.loop.now) else {
            return end(.absent, .unavailable)
        }
        round += 1
        let round = round
        if let timer {
            worker.loop.setTimer(timer, at: start.advanced(milliseconds: worker.configuration.engine.timeout))
        }
        worker.router.send(words, for: key) { [self] result in
            guard self.round == round, state != .ended else { return }
            switch result {
            case .success(let value):
                node.breaker.succeeded()
                completion(self, value)
            case .failure(.refused(let error)):
                // An engine that refuses a command has answered in time.
                node.breaker.succeeded()
                worker.warn(
                    "the shared tier refuses a look-up: \(EngineFailure.refused(error).description)", about: error.code.rawValue)
                if let stale { end(.found(stale.response, nil), .hit) } else { end(.absent, .failed) }
            case .failure(let failure):
                node.breaker.failed(at: worker.loop.now, spread: worker.router.random())
                end(.absent, failure == .unreachable || failure == .closed ? .unavailable : .failed)
            }
        }
    }

    private func receivedVariants(_ value: RESPValue) {
        guard let fields = value.elements else { return end(.absent, .failed) }
        guard worker.farm.isCurrent, let epoch = worker.farm.mark?.epoch else { return end(.absent, .unavailable) }
        var opened: [FoundEntry] = []
        let (now, oldest) = (worker.hooks.now(), worker.farm.oldestGeneration)
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            guard let field = fields[index].octets, field.count > 1, let entry = fields[index + 1].octets else { continue }
            worker.gauge.change { $0.downloadedBytes += UInt64(entry.count) }
            switch worker.coder.open(entry, key: lookUp.key, epoch: epoch, oldest: oldest, at: now) {
            case .success(let entry):
                if worker.farm.permits(entry, at: now) { opened.append(entry) } else { refuse(EntryRefusal("purged")) }
            case .failure(let refusal): refuse(refusal)
            }
        }
        let responses = opened.map(\.response)
        guard let index = Vary.select(among: responses, for: lookUp.request, lookUp.secondaryKey) else { return lead() }
        isFresh = responses[index].facts.isFresh(at: now)
        read(opened[index])
    }

    private func refuse(_ refusal: EntryRefusal) {
        hasRefused = true
        worker.gauge.note(refusal)
        // An entry that was purged is nothing to worry about.
        guard refusal.word != "purged" else { return }
        worker.warn("an entry of the shared tier was not used: \(refusal.word)", about: "entry \(refusal.word)")
    }

    // MARK: The body

    private func read(_ entry: FoundEntry) {
        guard !entry.pieces.isEmpty else { return found(entry) }
        state = .reading
        pieces = Array(repeating: nil, count: entry.pieces.count)
        let round = round
        for (index, piece) in entry.pieces.enumerated() {
            let key = worker.keys.piece(piece, of: name)
            // The pieces are fetched one by one, so that commands of other nodes come between them.
            worker.router.send(["GET", RESPWord(key)], for: key) { [self] result in
                guard self.round == round, state == .reading else { return }
                guard case .success(let value) = result, let octets = value.octets else {
                    refuse(EntryRefusal("body_missing"))
                    return lead()
                }
                worker.gauge.change { $0.downloadedBytes += UInt64(octets.count) }
                pieces[index] = octets
                if pieces.allSatisfy({ $0 != nil }) { join(entry) }
            }
            if state != .reading { return }
        }
    }

    private func join(_ entry: FoundEntry) {
        switch entry.join(pieces.compactMap { $0 }) {
        case .failure(let refusal):
            refuse(refusal)
            lead()
        case .success(let whole):
            found(FoundEntry(response: whole, mark: entry.mark, pieces: [], signer: entry.signer, join: entry.join))
        }
    }

    private func found(_ entry: FoundEntry) {
        if isFresh { return end(.found(entry.response, nil), hasWaited ? .waited : .hit) }
        stale = entry
        lead()
    }

    // MARK: The lease

    private func lead() {
        guard worker.configuration.write != .off, worker.coder.canSeal, worker.farm.isCurrent else { return endWithoutLease() }
        state = .leading
        let token = worker.makeToken()
        let seconds = worker.configuration.write == .secondRequest ? 86_400 : 60
        let command = EngineScripts.command(
            EngineScripts.lead, keys: [worker.keys.entry(name), worker.keys.lease(name)],
            [RESPWord(token), RESPWord(TierWorker.leaseMilliseconds), RESPWord(seconds * 1000)])
        send(command, from: worker.loop.now) { $0.receivedLease($1, token) }
    }

    private func receivedLease(_ value: RESPValue, _ token: [UInt8]) {
        if value.number == 0 { return wait() }
        guard let parts = value.elements, parts.count == 2, let fence = parts[0].octets, let seen = parts[1].number else {
            return endWithoutLease()
        }
        let isForStore = worker.configuration.write == .all || seen == 1
        let lease = worker.makeLease(key: lookUp.key, fence: fence, token: token, isForStore: isForStore)
        if let stale { return end(.found(stale.response, lease), .hit) }
        end(.leads(lease), hasRefused ? .refused : .miss)
    }

    private func endWithoutLease() {
        if let stale { return end(.found(stale.response, nil), .hit) }
        end(.absent, hasRefused ? .refused : .miss)
    }

    // MARK: Waiting for another node

    private func wait() {
        let now = worker.loop.now
        if waitEnd == .never { waitEnd = now.advanced(milliseconds: worker.configuration.wait) }
        hasWaited = true
        guard now < waitEnd, let timer else {
            if let stale { return end(.found(stale.response, nil), .waitEnded) }
            return end(.absent, .waitEnded)
        }
        state = .waiting
        round += 1
        worker.loop.setTimer(timer, at: min(waitEnd, now.advanced(milliseconds: pause)))
        pause = min(pause * 2, Self.greatestPause)
    }

    func deadlinePassed(_ timer: TimerID) {
        if state == .waiting { return ask(from: worker.loop.now) }
        if let node = worker.router.node(for: worker.keys.entry(name)) {
            node.breaker.failed(at: worker.loop.now, spread: worker.router.random())
        }
        end(.absent, .timeout)
    }

    private func end(_ answer: SharedAnswer, _ outcome: LookUpOutcome) {
        guard state != .ended else { return }
        state = .ended
        if let timer { worker.loop.removeTimer(timer) }
        timer = nil
        worker.gauge.note(outcome)
        reply.send(answer)
        worker.ended(self)
    }
}
