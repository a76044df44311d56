import EventLoop
import HTTPCaching
import HTTPMessage
import RESPWire
import ResponseStore

/// The keys that an unsafe request has invalidated, until the engine has removed them. Confined to its loop.
///
/// A key waits while its engine cannot be reached. If too many wait, all responses of the farm are made stale instead.
final class InvalidationQueue {
    private unowned let worker: TierWorker
    /// The keys that wait; `true` while a command for the key is in flight.
    private var waiting: [[UInt8]: Bool] = [:]
    private var needsPurge = false
    private var isPurging = false

    static let limit = 4096
    /// How long the engine keeps the new fence of an invalidated key: longer than a fetch that began before takes.
    private static let fenceMilliseconds = 600_000

    init(_ worker: TierWorker) { self.worker = worker }

    /// Whether the engine may have a response of this key that was invalidated.
    func isWaiting(_ key: [UInt8]) -> Bool { needsPurge || (!waiting.isEmpty && waiting[key] != nil) }

    var count: Int { waiting.count }

    func add(_ keys: [[UInt8]]) {
        worker.gauge.change { $0.invalidations += UInt64(keys.count) }
        for key in keys where !needsPurge {
            if waiting[key] == nil, waiting.count >= Self.limit {
                needsPurge = true
                waiting = [:]
                break
            }
            waiting[key] = false
            send(key)
        }
        retry()
    }

    func retry() {
        if needsPurge { return purge() }
        for (key, isInFlight) in waiting where !isInFlight { send(key) }
    }

    private func send(_ key: [UInt8]) {
        let hash = worker.keys.entry(worker.coder.name(ofKey: key))
        guard worker.router.node(for: hash) != nil else { return }
        waiting[key] = true
        let command = EngineScripts.command(
            EngineScripts.invalidate, keys: [hash], [RESPWord(Self.fenceMilliseconds)])
        worker.router.send(command, for: hash) { [unowned self] result in
            guard waiting[key] != nil else { return }
            if case .success = result { waiting[key] = nil } else { waiting[key] = false }
        }
    }

    private func purge() {
        if isPurging { return }
        isPurging = true
        worker.farm.append(FarmPurge(.matching(StoreFilter()), isSoft: true)) { [unowned self] number in
            isPurging = false
            if number != nil { needsPurge = false }
        }
    }
}
