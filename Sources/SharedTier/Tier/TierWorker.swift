import EventLoop
import HTTPCaching
import HTTPMessage
import RESPWire
import ResponseStore

/// The tier's part on its own thread: the connections, look-ups, uploads and the farm's purges. Confined to its loop, which owns it.
final class TierWorker: EngineRouterOwner, TimerHandler {
    let loop: EventLoop
    let configuration: TierConfiguration
    private(set) var coder: any EntryCoding
    let keys: EngineKeys
    let hooks: TierHooks
    let gauge: TierGauge
    private(set) lazy var router = EngineRouter(configuration.engine, on: loop, resolver, owner: self)
    private(set) lazy var uploads = UploadQueue(self)
    private(set) lazy var invalidations = InvalidationQueue(self)
    private(set) lazy var farm = FarmMember(self)
    private let resolver: NameResolver
    private var lookUps: [ObjectIdentifier: TierLookUp] = [:]
    /// The leases of this node, by their token: they are renewed until they end.
    private var leases: [[UInt8]: (key: [UInt8], count: Int)] = [:]
    private var leaseNumber: UInt64 = 0
    private var timer: TimerID?
    private var warnings: [String: RareWarning] = [:]
    private var isClosed = false

    /// How long a key's lease lasts without renewal, in milliseconds, and how often it is renewed.
    static let leaseMilliseconds = 3000
    private static let leaseRenewals = 60
    private static let tickMilliseconds = 1000
    static let lookUpLimit = 4096

    init(
        _ configuration: TierConfiguration, _ coder: any EntryCoding, _ hooks: TierHooks, _ gauge: TierGauge,
        _ resolver: NameResolver, on loop: EventLoop
    ) {
        self.configuration = configuration
        self.coder = coder
        self.hooks = hooks
        self.gauge = gauge
        self.resolver = resolver
        self.loop = loop
        keys = EngineKeys(farm: coder.farm)
    }

    func start() {
        router.start()
        let timer = loop.makeTimer(self)
        self.timer = timer
        farm.start()
        publishStatus()
        loop.setTimer(timer, afterMilliseconds: Self.tickMilliseconds)
    }

    func use(_ coder: any EntryCoding) {
        // The names of all keys in the engine contain the farm.
        guard coder.farm == keys.farm else { return hooks.warn("the keys of another farm are not used before the next start") }
        self.coder = coder
    }

    func close() {
        isClosed = true
        farm.close()
        uploads.close()
        for lookUp in Array(lookUps.values) { lookUp.giveUp() }
        router.close()
        if let timer { loop.removeTimer(timer) }
        timer = nil
    }

    // MARK: Time

    func deadlinePassed(_ timer: TimerID) {
        router.lookAfter()
        renewLeases()
        farm.tick()
        invalidations.retry()
        publishStatus()
        loop.setTimer(timer, afterMilliseconds: Self.tickMilliseconds)
    }

    func nodesChanged() {
        if isClosed { return }
        farm.nodesChanged()
        invalidations.retry()
        publishStatus()
    }

    func received(push: [RESPValue]) { farm.received(push: push) }

    func note(_ failure: EngineFailure, of address: EngineAddress) {
        if isClosed { return }
        warn("the shared tier at \(address): \(failure.description); requests go to the origins meanwhile", about: failure.word)
    }

    /// Warns at most once a minute about the same subject.
    func warn(_ text: @autoclosure () -> String, about subject: String) {
        if warnings.count > 64 { warnings = [:] }
        guard warnings[subject, default: RareWarning()].isDue(at: loop.now) else { return }
        hooks.warn(text())
    }

    // MARK: Look-ups

    func find(_ lookUp: SharedLookUp, sentAt: MonotonicTime, reply: Reply<SharedAnswer>) {
        guard !isClosed, lookUps.count < Self.lookUpLimit else {
            gauge.note(.unavailable)
            return reply.send(.absent)
        }
        let running = TierLookUp(lookUp, for: self, reply)
        lookUps[ObjectIdentifier(running)] = running
        running.begin(sentAt: sentAt)
    }

    func ended(_ lookUp: TierLookUp) { lookUps[ObjectIdentifier(lookUp)] = nil }

    // MARK: Leases

    func makeToken() -> [UInt8] {
        leaseNumber &+= 1
        return farm.identity + Array("-\(leaseNumber)".utf8)
    }

    func makeLease(key: [UInt8], fence: [UInt8], token: [UInt8], isForStore: Bool) -> SharedLease {
        leases[token] = (key, 0)
        let handle = loop.handle
        return SharedLease(
            key: key, fence: fence, token: token, generation: farm.generation, isForStore: isForStore
        ) { key, token in
            handle.post { loop in
                (loop.owner as? TierWorker)?.release(key: key, token: token, broughtNothing: isForStore)
            }
        }
    }

    /// Called when a response has been stored under the lease, which the engine has ended with it.
    func leaseUsed(_ token: [UInt8]) { leases[token] = nil }

    /// - Parameter broughtNothing: whether the fetch has brought nothing that may be shared, so that other nodes need not wait for such.
    private func release(key: [UInt8], token: [UInt8], broughtNothing: Bool) {
        guard leases.removeValue(forKey: token) != nil, !isClosed else { return }
        let name = coder.name(ofKey: key)
        let command = EngineScripts.command(
            EngineScripts.release, keys: [keys.entry(name), keys.lease(name)],
            [RESPWord(token), RESPWord(broughtNothing ? 1 : 0)])
        // If the engine does not get it, the lease ends by itself.
        router.send(command, for: keys.entry(name)) { _ in }
    }

    private func renewLeases() {
        for (token, lease) in leases {
            // A fetch that takes a minute no longer keeps other nodes from fetching.
            if lease.count >= Self.leaseRenewals {
                leases[token] = nil
                continue
            }
            leases[token]?.count += 1
            let key = keys.lease(coder.name(ofKey: lease.key))
            let command = EngineScripts.command(
                EngineScripts.renew, keys: [key], [RESPWord(token), RESPWord(Self.leaseMilliseconds)])
            router.send(command, for: key) { _ in }
        }
    }

    // MARK: Status

    func publishStatus() {
        var status = TierStatus()
        status.url = configuration.engine.url.description
        status.isCluster = router.topology != nil
        status.engines = router.status
        status.farm = coder.farm
        status.node = configuration.node
        status.isCurrent = farm.isCurrent
        status.generation = farm.mark?.generation
        gauge.publish(status)
    }
}
