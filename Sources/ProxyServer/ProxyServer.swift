import AccessLog
import AuditLog
import BodyTransforms
import CLarderLinux
import CertificateAuthority
import ClientPasswords
import EventLoop
import HTTPMessage
import ProxyCore
import ProxyPolicy
import Reachability
import Recordings
import ResponseStore
import Synchronization
import Telemetry
import UpstreamTransport

/// The proxy: listeners, loops, and their shared state. Started once; drained or stopped once.
package final class ProxyServer: Sendable {
    let shared: ServerShared
    let threads: [LoopThread]
    package let addresses: [PeerAddress]
    let source: Guarded<SettingsSource>
    let network = NetworkFollower()
    private let hasStopped = Atomic<Bool>(false)

    /// Starts serving on sockets that are listening.
    /// - Parameters:
    ///   - loops: The number of serving threads; at least one.
    ///   - transparent: the sockets for clients that connect to origins' addresses; `nil` for none.
    package init(
        _ settings: ServerSettings, rules: PolicyRuleSet, shadow: PolicyRuleSet? = nil, store: ResponseStore,
        tier: (any SharedResponses)? = nil,
        sockets: [ListeningSocket], transparent: TransparentSockets? = nil, loops: Int,
        budgets: UpstreamBudgets = UpstreamBudgets(), accessLog: AccessLog, auditLog: AuditLog? = nil,
        telemetry: Telemetry? = nil,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SystemError) {
        addresses = sockets.map(\.address)
        var source = SettingsSource(settings: settings, rules: rules, shadow: shadow)
        // Until the farm has confirmed that this machine knows all purges.
        source.validatesStored = tier != nil
        self.source = Guarded(source)
        let current = Self.current(source, addresses: addresses, after: nil, warn)
        var handshakeBeginners: [LoopThread] = []
        for index in 0..<loops { handshakeBeginners.append(try LoopThread(name: "handshakes-\(index)", .beside)) }
        let shared = ServerShared(
            store: store, tier: tier, checks: try CheckPool(), leafMaker: try LoopThread(name: "leaves", .beside),
            handshakeBeginners: handshakeBeginners, budgets: budgets, accessLog: accessLog, auditLog: auditLog,
            telemetry: telemetry,
            instance: UInt64.random(in: 0...UInt64.max), current: current, warn: warn)
        self.shared = shared
        if settings.admission.passwords != nil { try shared.credentials.start() }
        // The first loop accepts connections for all. It starts last, because it needs the handles of the others.
        var threads: [LoopThread] = []
        for index in stride(from: loops - 1, through: 0, by: -1) {
            let others = threads.map(\.handle)
            threads.insert(
                try LoopThread(name: "loop-\(index)") { loop in
                    LoopWorker.start(
                        on: loop, index: index, shared: shared,
                        sockets: index == 0 ? ServingSockets(proxy: sockets, transparent: transparent) : ServingSockets(),
                        handles: [loop.handle] + others)
                }, at: 0)
        }
        self.threads = threads
        followNetwork(settings.mode)
    }

    /// Activates new settings for all later requests.
    package func reload(_ settings: ServerSettings, rules: PolicyRuleSet, shadow: PolicyRuleSet? = nil) {
        do throws(SystemError) {
            if settings.admission.passwords != nil { try shared.credentials.start() }
        } catch {
            shared.warn("cannot check passwords: \(error.call) failed")
        }
        followNetwork(settings.mode)
        activate { source in
            source.settings = settings
            source.rules = rules
            source.shadow = shadow
            source.network = network.status ?? .unknown
        }
        shared.limits.keepOnly(rulesOf: rules)
        shared.approvals.keepOnly(rulesOf: rules)
        shared.reports.removeAll()
    }

    /// Advances the wall clocks of all loops, for tests of ages; calls `completion` on any thread when all have done so.
    package func advanceWallClock(milliseconds: Int64, _ completion: @escaping @Sendable () -> Void) {
        let left = LoopCountdown(threads.count, completion)
        for thread in threads {
            thread.handle.post { loop in
                loop.advanceWallClock(milliseconds: milliseconds)
                left.reachedEnd()
            }
        }
    }

    /// Accepts no more connections, waits for exchanges in flight, denies those that wait for an approver, and calls `completion` on any thread when all have ended.
    package func drain(_ completion: @escaping @Sendable () -> Void) {
        shared.approvals.stop()
        let left = LoopCountdown(threads.count, completion)
        for thread in threads {
            thread.handle.post { loop in
                guard let worker = loop.owner as? LoopWorker else { return left.reachedEnd() }
                worker.drain { left.reachedEnd() }
            }
        }
    }

    /// Closes every connection, stops the loops, and waits for their threads.
    package func stop() {
        guard hasStopped.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
        network.close()
        shared.approvals.stop()
        for thread in threads {
            thread.handle.post { loop in
                (loop.owner as? LoopWorker)?.closeAll()
                loop.forgetReplies()
                loop.owner = nil
                loop.stop()
            }
        }
        for thread in threads { thread.join() }
        shared.checks.stop()
        for helper in shared.handshakeBeginners + [shared.leafMaker] {
            helper.handle.stop()
            helper.join()
        }
        shared.credentials.stop()
    }

    /// The answer to a DNS query for a name in a command's network namespace, by the active rules.
    package func resolve(_ name: [UInt8], in names: ReservedNames) -> ReservedNames.Resolution {
        names.resolve(name, under: shared.current.context.rules)
    }

    /// Whether a name has addresses in a command's network namespace, by the active rules.
    package func exists(_ name: [UInt8], in names: ReservedNames) -> Bool {
        names.exists(name, under: shared.current.context.rules)
    }

    /// The active mode.
    package var mode: ExchangeContext.Mode { shared.current.context.mode }

    /// The number of times that the egress gate has let a connection pass since the mode became active.
    package var departureCount: Int { shared.current.settings.transport.gate.passCount }

    /// The status of the network, for users; `nil` if the mode is not `auto`.
    package var networkStatus: String? { network.status?.description }

    /// Requires that stored responses are validated before they are used, or no longer requires it. Activated for all later requests.
    package func validateStored(_ isRequired: Bool) {
        if source.withLock({ $0.validatesStored == isRequired }) { return }
        activate { $0.validatesStored = isRequired }
    }

    /// Overrides the network status; `nil` removes the override. Has no effect if the mode is not `auto`.
    package func forceNetwork(_ status: ReachabilityStatus?) { network.force(status) }

    /// The active TLS setup of each listener.
    package var listenerTLS: [ListenerTLS?] { shared.current.settings.listenerTLS }

    /// The active password file.
    package var passwords: PasswordFile? { shared.current.settings.admission.passwords }

    package var connectionCount: Int { shared.counts.total }

    static func current(
        _ source: SettingsSource, addresses: [PeerAddress], after previous: ServerShared.Current?, _ warn: (String) -> Void
    ) -> ServerShared.Current {
        var settings = source.settings
        settings.transport.addresses.own = OwnListeners(
            (addresses + settings.otherListeners).map { .init(address: $0.address, port: $0.port) })
        // One gate for the lifetime of the server: closing it also applies to requests under older settings.
        if let previous {
            settings.transport.gate = previous.settings.transport.gate
        } else {
            settings.transport.gate.set(settings.gatePosition(in: settings.mode(on: source.network)))
        }
        return ServerShared.Current(
            settings: settings,
            context: context(
                settings, rules: source.rules, shadow: source.shadow, addresses: addresses, network: source.network,
                validatesStored: source.validatesStored),
            interception: interception(settings, after: previous?.interception, warn),
            recordings: ActiveRecordings(layers: settings.layers, file: settings.recording))
    }

    private static func interception(
        _ settings: ServerSettings, after previous: Interception?, _ warn: (String) -> Void
    ) -> Interception? {
        guard let authority = settings.authority else { return nil }
        do throws(CertificateAuthority.AuthorityFault) {
            return try Interception(authority, offersHTTP2: settings.offersHTTP2, after: previous)
        } catch {
            warn("cannot intercept hosts: OpenSSL cannot set up TLS")
            return nil
        }
    }

    /// The exchange context for these settings and rules.
    package static func context(
        _ settings: ServerSettings, rules: PolicyRuleSet, shadow: PolicyRuleSet? = nil, addresses: [PeerAddress],
        network: ReachabilityStatus = .unknown, validatesStored: Bool = false
    ) -> ExchangeContext {
        let mode = settings.mode(on: network)
        return ExchangeContext(
            rules: rules, shadow: shadow, mode: mode,
            offlineStalenessLimit: settings.mode == .auto ? settings.offlineStalenessLimit : nil,
            layerNames: settings.layers?.names ?? [], replaysStore: settings.replaysStore,
            sparesThisMachine: settings.gatePosition(in: mode) == .openToThisMachine,
            limits: settings.proxyLimits, tunnelPorts: settings.tunnelPorts,
            hostMismatch: settings.hostMismatch,
            setCookie: settings.setCookie, targets: settings.targets, tellsKey: settings.tellsKey,
            ownAddresses: addresses.enumerated().map { OwnNames.of($1, settings.tls(ofListener: $0)) },
            rootCertificate: settings.authority.map { RootCertificate(der: $0.root.der, pem: Array($0.rootText.utf8)) },
            runName: Array(settings.runName.utf8), purgeClients: settings.purgeClients,
            validatesStored: validatesStored,
            plaintextRule: settings.transport.trust.flatMap(plaintextRule),
            activeTrust: activeTrust(settings.transport.trust), judgeChain: judgeChain(settings.transport.trust),
            trustSummary: trustSummary(settings.transport.trust), denial: denial(settings.transport),
            routeSummary: routeSummary(settings),
            pseudonym: Array(settings.pseudonym.utf8), tracing: settings.tracing,
            boundarySecret: UInt64.random(in: 0...UInt64.max))
    }
}

/// Calls its completion when all loops have finished.
private final class LoopCountdown: Sendable {
    private let left: Atomic<Int>
    private let completion: @Sendable () -> Void

    init(_ count: Int, _ completion: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.completion = completion
    }

    func reachedEnd() {
        if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { completion() }
    }
}
