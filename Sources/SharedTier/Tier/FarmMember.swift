import EventLoop
import HTTPCaching
import HTTPMessage
import RESPWire
import ResponseStore

/// This node's membership in the farm: its lease, and the purges that it applies. Confined to its loop.
final class FarmMember: TimerHandler {
    private unowned let worker: TierWorker
    /// Distinguishes this process from all others.
    let identity: [UInt8]
    private var standing = FarmStanding(nil)
    private var purges = PurgeLog(floor: .max)
    /// The purges that `purges` has, beginning at the first contact.
    private var isRenewing = false
    private var isApplying = false
    private var wantsRenewal = false
    private var timer: TimerID?
    private var wasCurrent = false
    private var waits: [FarmPurgeWait] = []
    private var subscribedTo: ObjectIdentifier?

    init(_ worker: TierWorker) {
        self.worker = worker
        identity = Array("\(String(worker.router.random(), radix: 36))\(String(worker.router.random(), radix: 36))".utf8)
    }

    /// The purges that are applied; `nil` before the first contact.
    var mark: FarmMark? { standing.mark }
    var generation: Int64 { standing.mark?.generation ?? 0 }
    var isCurrent: Bool { standing.isCurrent }
    /// Purges before this generation are no longer known.
    var oldestGeneration: Int64 { purges.floor }

    /// Whether an entry may be used: it was fetched in this epoch, and no later purge covers it.
    func permits(_ entry: FoundEntry, at now: Timestamp) -> Bool {
        guard isCurrent, let mark, entry.mark.epoch == mark.epoch, entry.mark.generation <= mark.generation else { return false }
        return purges.leaves(entry.response, fetchedIn: entry.mark.generation, at: now)
    }

    func start() {
        standing = FarmStanding(worker.hooks.loadMark())
        timer = worker.loop.makeTimer(self)
        worker.hooks.setCurrent(false)
    }

    func close() {
        for wait in waits { wait.fail(.closed) }
        waits = []
        let keys = worker.keys
        worker.router.send(
            EngineScripts.command(EngineScripts.leave, keys: [keys.nodes], [RESPWord(identity)]), for: keys.nodes
        ) { _ in }
        if let timer { worker.loop.removeTimer(timer) }
        timer = nil
    }

    // MARK: The lease

    func tick() {
        renew()
        for wait in waits { wait.look() }
    }

    func nodesChanged() {
        subscribe()
        if !isCurrent { renew() }
    }

    /// Messages of the channel only say that there is a purge: its record is read from the engine.
    func received(push: [RESPValue]) {
        guard push.first?.string == "message" else { return }
        renew()
    }

    /// Subscribes to the announcements of purges on the node that has the farm's keys. Without them, purges are noticed with the next
    /// renewal of the lease.
    private func subscribe() {
        guard let connection = worker.router.node(for: worker.keys.epoch)?.connection else { return }
        guard subscribedTo != ObjectIdentifier(connection) else { return }
        if connection.subscribe(to: worker.keys.channel) { subscribedTo = ObjectIdentifier(connection) }
    }

    private func renew() {
        if isApplying { return }
        if isRenewing { return wantsRenewal = true }
        isRenewing = true
        wantsRenewal = false
        let (sentAt, confirmed, keys) = (worker.loop.now, standing.mark, worker.keys)
        let command = EngineScripts.command(
            EngineScripts.join, keys: [keys.epoch, keys.generation, keys.nodes],
            [
                RESPWord(identity), RESPWord(identity), RESPWord(confirmed?.epoch ?? [0x2D]),
                RESPWord(confirmed?.generation ?? -1), RESPWord(FarmStanding.leaseMilliseconds),
                RESPWord(worker.configuration.node),
            ])
        worker.router.send(command, for: keys.epoch) { [unowned self] result in
            isRenewing = false
            guard case .success(let value) = result, let parts = value.elements, parts.count == 2, let epoch = parts[0].octets,
                let generation = parts[1].number
            else { return noteFailure(result) }
            let farm = FarmMark(epoch: epoch, generation: generation)
            follow(standing.renewed(farm: farm, sentAt: sentAt, confirmed: confirmed))
            if wantsRenewal { renew() }
        }
    }

    private func noteFailure(_ result: Result<RESPValue, EngineFailure>) {
        guard case .failure(let failure) = result, failure != .unreachable else { return }
        worker.warn("this node cannot renew its lease in the farm: \(failure.description)", about: "lease \(failure.word)")
    }

    private func follow(_ step: FarmStanding.Step) {
        switch step {
        case .nothing:
            // A process that continues from an earlier one's mark does not have the records of the purges before it.
            if purges.floor == .max { purges = PurgeLog(floor: generation) }
            reportStanding()
        case .apply(let first, let last): fetch(after: first, through: last)
        case .startAnew(let mark): startAnew(mark)
        }
    }

    private func reportStanding() {
        if let timer { worker.loop.setTimer(timer, at: standing.end) }
        guard standing.isCurrent != wasCurrent else { return }
        wasCurrent = standing.isCurrent
        worker.hooks.setCurrent(wasCurrent)
        worker.publishStatus()
    }

    func deadlinePassed(_ timer: TimerID) {
        standing.noteTime(worker.loop.now)
        if !standing.isCurrent, wasCurrent {
            worker.warn(
                "this node has lost the farm's shared tier: stored responses are validated before they are used", about: "lost")
        }
        reportStanding()
    }

    // MARK: Applying purges

    private func fetch(after first: Int64, through last: Int64) {
        isApplying = true
        let numbers = Array(first + 1...last)
        worker.router.send(
            ["HMGET", RESPWord(worker.keys.log)] + numbers.map { RESPWord($0) }, for: worker.keys.log
        ) { [unowned self] result in
            isApplying = false
            guard case .success(let value) = result, let records = value.elements, records.count == numbers.count else { return }
            var found: [(Int64, FarmPurge)] = []
            for (number, record) in zip(numbers, records) {
                guard let sealed = record.octets, let octets = worker.coder.open(record: sealed),
                    let purge = FarmPurge(decoding: octets)
                else {
                    // Someone who has no key of the farm cannot name what to purge. So everything counts as purged.
                    worker.warn("a purge of the farm cannot be read: all stored responses are validated", about: "purge")
                    found.append((number, FarmPurge(.matching(StoreFilter()), isSoft: true)))
                    continue
                }
                found.append((number, purge))
            }
            if purges.floor == .max { purges = PurgeLog(floor: first) }
            apply(found[...])
        }
    }

    private func apply(_ rest: ArraySlice<(Int64, FarmPurge)>) {
        guard let (number, purge) = rest.first, let mark = standing.mark else {
            reportStanding()
            return renew()
        }
        isApplying = true
        purges.append(purge, number: number)
        applyLocally(purge) { [unowned self] isApplied in
            isApplying = false
            // If the store cannot purge now, the node tries again with the next renewal.
            guard isApplied else { return }
            let next = FarmMark(epoch: mark.epoch, generation: number)
            standing.applied(next)
            worker.hooks.saveMark(next)
            worker.gauge.change { $0.purges += 1 }
            apply(rest.dropFirst())
        }
    }

    private func startAnew(_ mark: FarmMark) {
        isApplying = true
        purges = PurgeLog(floor: mark.generation)
        applyLocally(FarmPurge(.matching(StoreFilter()), isSoft: true)) { [unowned self] isApplied in
            isApplying = false
            guard isApplied else { return }
            standing.applied(mark)
            worker.hooks.saveMark(mark)
            renew()
        }
    }

    /// - Parameter completion: called on the loop when the purge is in effect, even after a crash; `false` if it is not.
    private func applyLocally(_ purge: FarmPurge, _ completion: @escaping (Bool) -> Void) {
        let reply = worker.loop.reply { (isApplied: Bool) in completion(isApplied) }
        let isTaken = worker.hooks.purge(FarmPurgeRequest(request: purge.request, isSoft: purge.isSoft)) { progress in
            switch progress {
            case .inEffect, .done: reply.send(true)
            case .interrupted: reply.send(false)
            }
        }
        if !isTaken { reply.send(false) }
    }

    // MARK: Purges by this node

    /// Adds a purge to the farm's log.
    /// - Parameter completion: gets the number of the purge and the epoch; `nil` if the engine could not be reached.
    func append(_ purge: FarmPurge, _ completion: @escaping (FarmMark?) -> Void) {
        guard let epoch = standing.mark?.epoch, let record = worker.coder.seal(record: purge.encoded) else {
            return completion(nil)
        }
        let keys = worker.keys
        let command = EngineScripts.command(
            EngineScripts.append, keys: [keys.epoch, keys.generation, keys.log],
            [RESPWord(epoch), RESPWord(record), RESPWord(FarmStanding.logLength), RESPWord(keys.channel)])
        worker.router.send(command, for: keys.epoch) { [unowned self] result in
            guard case .success(let value) = result, let number = value.number, number > 0 else {
                noteFailure(result)
                return completion(nil)
            }
            renew()
            completion(FarmMark(epoch: epoch, generation: number))
        }
    }

    func purge(_ purge: FarmPurge, milliseconds: Int, reply: Reply<FarmPurgeResult>) {
        append(purge) { [unowned self] mark in
            guard let mark else { return reply.send(.failed("the shared tier cannot be reached")) }
            let wait = FarmPurgeWait(for: mark, worker, milliseconds: milliseconds, reply)
            waits.append(wait)
            wait.begin { [unowned self] in waits.removeAll { $0 === wait } }
        }
    }

    /// The nodes of the farm, by their leases.
    func nodes(of mark: FarmMark?, _ completion: @escaping (Result<FarmSurvey, EngineFailure>) -> Void) {
        let keys = worker.keys
        let command = EngineScripts.command(
            EngineScripts.standing, keys: [keys.epoch, keys.generation, keys.log, keys.nodes],
            [RESPWord(mark?.generation ?? 0)])
        worker.router.send(command, for: keys.epoch) { result in
            switch result {
            case .success(let value): completion(FarmSurvey(value).map { .success($0) } ?? .failure(.malformed))
            case .failure(let failure): completion(.failure(failure))
            }
        }
    }
}
