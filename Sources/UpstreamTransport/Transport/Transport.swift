import EventLoop
import HTTPMessage
import HTTPWire
import ServerTrust
import TLSChannel

/// Exchanges with origins over pooled connections. Each loop has one transport, which is confined to it.
///
/// The `Connector` connects, HTTPWire parses and frames messages, and the transport keeps the pool of idle connections. The
/// limits over all loops are in the shared `UpstreamBudgets`. `close` must be called before the transport is released.
package final class Transport {
    package let configuration: TransportConfiguration
    let loop: EventLoop
    let budgets: UpstreamBudgets
    let pool = ConnectionPool()
    /// The buffer for every read of this loop: the kept beginning of a head, and one read after it.
    package let readBuffer: UnsafeMutableRawBufferPointer
    var tunnels: [ObjectIdentifier: TunnelOpening] = [:]
    var probes: [TrustVerdictCache.Key: Probe] = [:]
    var earlyConnections: [ObjectIdentifier: Preconnect] = [:]

    static let readLength = RecordBuffers.contentLength
    private static let spareExchangeLimit = 1024

    let connector: Connector
    /// Whether there is an upstream proxy. The answer is stored because each exchange needs it, and a comparison of an optional struct with
    /// `nil` would copy the struct.
    private let hasProxy: Bool
    private var port: Port<BudgetMessage>?
    private var member = 0
    private var exchanges: [UpstreamExchange] = []
    @exclusivity(unchecked) private var spare: [UpstreamExchange] = []
    private var nextNumber: UInt64 = 1
    private var waiting: [UInt64: UpstreamExchange] = [:]
    /// Tickets of exchanges that stopped waiting while the message that grants them a connection was in flight.
    private var orphans: [UInt64: PoolKey] = [:]
    private var connectionCount = 0
    /// Connections inside TLS that were handed to tunnels and carry another protocol.
    var switchedCount = 0
    private var sweepTimer: TimerID?
    private var parentProbes: ParentProbes?
    private var isSweepPlanned = false
    private var isClosed = false

    package init(loop: EventLoop, configuration: TransportConfiguration, budgets: UpstreamBudgets) {
        self.loop = loop
        self.configuration = configuration
        hasProxy = configuration.leadsThroughProxy
        self.budgets = budgets
        readBuffer = .allocate(byteCount: configuration.limits.headLength + Self.readLength, alignment: 64)
        connector = Connector(
            loop: loop, addresses: hasProxy ? configuration.addresses.ofUpstreamProxy : configuration.addresses,
            destinations: configuration.addresses, lookUpLimit: configuration.lookUps, gate: configuration.gate,
            contentBuffer: readBuffer,
            audit: configuration.audit, writeKeys: configuration.writeKeys)
        let port = loop.port { [unowned self] (message: BudgetMessage) in self.handle(message) }
        self.port = port
        member = budgets.join(port)
        sweepTimer = loop.makeTimer(Sweeper(self))
    }

    deinit {
        precondition(isClosed, "a transport is closed on its loop before it is let go")
        readBuffer.deallocate()
    }

    /// Begins an exchange. The delegate is retained until the exchange ends; it is not called before `open` returns, except for
    /// `exchangeHasConnection`.
    package func open(_ request: UpstreamRequest, delegate: any OriginExchangeDelegate) -> OriginExchange {
        let exchange = spare.popLast() ?? makeExchange()
        let number = nextNumber
        nextNumber += 1
        exchange.begin(request, number: number, delegate: delegate)
        return OriginExchange(exchange: exchange, number: number)
    }

    /// Begins to open a tunnel to this host and port, if the CONNECT settings allow it; the scheme of the origin is ignored.
    /// - Parameters:
    ///   - via: the value of Via for an upstream proxy, so that request loops end (RFC 9110 §7.6.3).
    ///   - isPlain: the client does not use TLS, and the caller has checked `permitsUninspected`: the server is not verified.
    package func openTunnel(
        to origin: Origin, via: @autoclosure () -> String, isPlain: Bool = false, delegate: any TunnelDelegate
    ) -> TunnelOpening {
        let tunnel = TunnelOpening(
            self, to: origin, via: hasProxy ? via() : "", isPlain: isPlain,
            milliseconds: configuration.timeouts.connect, delegate: delegate)
        tunnel.begin()
        return tunnel
    }

    /// Fails everything in flight with `transportClosed` and closes every connection. The transport must not be used after that.
    package func close() {
        if isClosed { return }
        isClosed = true
        stopProbing()
        for exchange in exchanges where exchange.isActive { exchange.fail(.transportClosed) }
        for tunnel in Array(tunnels.values) { tunnel.fail(.transportClosed) }
        for probe in Array(probes.values) { probe.fail(.transportClosed) }
        for early in Array(earlyConnections.values) { early.giveUp() }
        closeIdleConnections()
        for exchange in exchanges { exchange.discard() }
        exchanges = []
        spare = []
        // The messages that grant these connections will find the port closed, so their places are given back here.
        for key in orphans.values { budgets.release(key) }
        orphans = [:]
        connector.close()
        if let port { loop.close(port) }
        port = nil
        budgets.leave(member)
        if let sweepTimer { loop.removeTimer(sweepTimer) }
        sweepTimer = nil
    }

    package func closeIdleConnections() {
        while let connection = pool.oldestConnection { discard(connection) }
    }

    /// This loop's connections (including idle ones) and waiting exchanges.
    package var statistics: (connections: Int, idle: Int, waiting: Int) { (connectionCount, pool.count, waiting.count) }

    /// The TLS handshakes with servers since the start.
    package var handshakes: HandshakeCounts { connector.handshakes }

    /// Whether nothing is in flight: all connections are idle, and there is no waiting or connecting exchange, no exchange between two
    /// attempts, no switched connection, no tunnel, no probe and no preconnect.
    package var isQuiet: Bool {
        connectionCount == pool.count && switchedCount == 0 && waiting.isEmpty && tunnels.isEmpty && probes.isEmpty
            && earlyConnections.isEmpty && connector.relayCount == 0 && !exchanges.contains { $0.isActive }
    }

    /// Begins to probe the parents, if the way leads through parents. One loop probes for all loops.
    package func beginProbing() {
        if let group = configuration.parents, parentProbes == nil { parentProbes = ParentProbes(self, of: group) }
    }

    package func stopProbing() {
        parentProbes?.stop()
        parentProbes = nil
    }

    // MARK: Exchanges

    private func makeExchange() -> UpstreamExchange {
        let exchange = UpstreamExchange(self)
        exchange.index = exchanges.count
        exchanges.append(exchange)
        return exchange
    }

    func recycle(_ exchange: UpstreamExchange) {
        if isClosed { return }
        if spare.count < Self.spareExchangeLimit { return spare.append(exchange) }
        exchange.discard()
        exchanges.swapAt(exchange.index, exchanges.count - 1)
        exchanges[exchange.index].index = exchange.index
        exchanges.removeLast()
    }

    func refusalOfConnecting(to origin: Origin) -> TransportError? {
        if isClosed { return .transportClosed }
        guard configuration.gate.isOpen(to: origin.host) else { return .egressClosed }
        return configuration.refusalByName(origin)
    }

    // MARK: Connections

    /// The server for exchanges with this origin, or the reason why nothing may be sent to it.
    func use(_ origin: Origin, isKnownHTTP2: Bool = false, tunnelsPlaintext: Bool = false) throws(TransportError) -> Endpoint {
        if isClosed { throw .transportClosed }
        guard configuration.gate.isOpen(to: origin.host) else { throw .egressClosed }
        // With an upstream proxy, Larder does not know the address that the proxy connects to, so only the host in the request can be
        // checked.
        if hasProxy, let refusal = configuration.refusalByName(origin) { throw refusal }
        if origin.scheme == .https, !hasProxy || configuration.proxy?.asksSecurely != true {
            return try useSecurely(origin, through: configuration.proxy)
        }
        // This check also stops exchanges that began under older settings.
        if origin.scheme == .http, forbidsPlaintext(to: origin.host, port: origin.port) { throw .plaintextToPinnedHost }
        guard hasProxy, let proxy = configuration.proxy else {
            if isKnownHTTP2 { return pool.use(PoolKey(direct: origin, isKnownHTTP2: true)) }
            return pool.useRecent(direct: origin) ?? pool.use(PoolKey(direct: origin))
        }
        // Few proxies forward Upgrade, so they get a tunnel (RFC 6455 §4.1).
        let isTunneled = proxy.scheme.isSOCKS || tunnelsPlaintext && !proxy.asksSecurely
        return isTunneled ? pool.use(PoolKey(plain: origin, through: proxy)) : try useForwarding(proxy)
    }

    func useSecurely(_ origin: Origin, through proxy: UpstreamProxy?) throws(TransportError) -> Endpoint {
        // An origin's policy and proxy do not change during the life of the transport, except that there are several parents.
        if configuration.parents == nil, let endpoint = pool.useRecent(origin) { return endpoint }
        let policy = try policy(host: origin.host, port: origin.port)
        let key = PoolKey(secure: origin, through: proxy, trustFingerprint: policy.fingerprint)
        let endpoint = pool.use(key)
        if endpoint.trust == nil {
            endpoint.trust = policy
            endpoint.identity = configuration.identities.value(host: origin.host, port: origin.port)
        }
        return endpoint
    }

    /// Counts one more connection; if the total limit is reached, the oldest idle connection is closed first.
    func acquire(_ key: PoolKey) -> Bool {
        if budgets.acquire(key) { return true }
        guard budgets.isFull(for: key), let oldest = pool.oldestConnection else { return false }
        discard(oldest)
        return budgets.acquire(key)
    }

    /// Whether requests to this origin use a tunnel through the upstream proxy.
    package func asksForTunnel(to scheme: Origin.Scheme) -> Bool { scheme == .https && hasProxy }

    /// - Parameter via: the value of Via in the request for a tunnel through the upstream proxy.
    /// - Parameter isForSwitch: the connection is for a switch of protocols, which HTTP/2 does not have (RFC 9113 §8.6).
    func connect(
        to endpoint: Endpoint, via: String, isForSwitch: Bool = false, milliseconds: Int, observer: any ConnectObserver
    ) -> any ConnectAttempt {
        let key = endpoint.key
        var target = ConnectTarget(
            host: key.origin.host, port: key.origin.port,
            addresses: key.tunnelProxy == nil ? configuration.resolve[key.origin.host] ?? [] : addresses(of: key.origin.host),
            via: via, trust: endpoint.trust, identity: endpoint.identity, resumption: key)
        lead(&target, through: key.tunnelProxy)
        if configuration.offersHTTP2, !isForSwitch, !endpoint.requiresHTTP1 { target.protocols = ["h2", "http/1.1"] }
        return connector.connect(to: target, milliseconds: milliseconds, observer: observer)
    }

    /// - Parameter address: the address to connect to; `nil` for the addresses of the host.
    func connectTunnel(
        to origin: Origin, at address: IPAddress?, through proxy: UpstreamProxy?, via: String, milliseconds: Int,
        observer: any ConnectObserver
    ) -> any ConnectAttempt {
        var target = ConnectTarget(
            host: origin.host, port: origin.port, addresses: address.map { [$0] } ?? addresses(of: origin.host), via: via)
        lead(&target, through: proxy)
        return connector.connect(to: target, milliseconds: milliseconds, observer: observer)
    }

    /// The addresses that the settings give for a host. Empty with an upstream proxy that resolves the names itself.
    func addresses(of host: String) -> [IPAddress] {
        !hasProxy || configuration.proxy?.scheme == .socks5 ? configuration.resolve[host] ?? [] : []
    }

    /// Makes a connection for the HTTP version that the server has chosen.
    func adopt(_ peer: ConnectedPeer, of endpoint: Endpoint, isForSwitch: Bool = false) throws(SystemError) -> PooledConnection {
        let isHTTP2 = peer.channel?.isForHTTP2 ?? endpoint.key.isKnownHTTP2
        if peer.channel != nil, isHTTP2 || !isForSwitch { pool.note(isHTTP2: isHTTP2, of: endpoint) }
        if isHTTP2 { return try HTTP2OriginConnection(self, endpoint: endpoint, peer: peer) }
        return try UpstreamConnection(self, endpoint: endpoint, peer: peer)
    }

    func didOpen(_ connection: PooledConnection) {
        connectionCount += 1
        pool.addUse(of: connection.endpoint)
    }

    func didClose(_ connection: PooledConnection) {
        connectionCount -= 1
        pool.endUse(of: connection.endpoint)
        budgets.release(connection.endpoint.key)
    }

    /// Called when an exchange has finished with its connection.
    func becameIdle(_ connection: PooledConnection) {
        if isClosed { return connection.close() }
        if budgets.hasWaiters {
            guard connection.isReusable else { return connection.close() }
            switch budgets.settle(afterUseOf: connection.endpoint.key, member: member) {
            case .keep: break
            case .close: return connection.close()
            case .handOver(let ticket):
                if let exchange = waiting.removeValue(forKey: ticket) { return connection.start(exchange) }
            }
        }
        guard connection.isWorthKeeping(among: configuration.idleConnectionsPerOrigin) else { return connection.close() }
        connection.idleSince = loop.now
        connection.join(pool)
        if pool.count > configuration.idleConnections, let oldest = pool.oldestConnection { discard(oldest) }
        planSweep()
    }

    func idleConnectionStirred(_ connection: UpstreamConnection) { discard(connection) }

    private func discard(_ connection: PooledConnection) {
        pool.remove(connection)
        connection.close()
    }

    private func planSweep() {
        guard !isSweepPlanned, let oldest = pool.oldestConnection, let sweepTimer else { return }
        isSweepPlanned = true
        loop.setTimer(sweepTimer, at: oldest.idleSince.advanced(milliseconds: configuration.idleConnectionMilliseconds))
    }

    fileprivate func sweep() {
        isSweepPlanned = false
        while let oldest = pool.oldestConnection,
            oldest.idleSince.advanced(milliseconds: configuration.idleConnectionMilliseconds) <= loop.now
        {
            discard(oldest)
        }
        planSweep()
    }

    // MARK: Waiting for a connection

    func enqueue(_ exchange: UpstreamExchange, for key: PoolKey) -> UInt64? {
        guard let ticket = budgets.wait(for: key, member: member) else { return nil }
        waiting[ticket] = exchange
        return ticket
    }

    /// Removes an exchange from the queue. If a connection was already granted to the exchange, its place is given back when the grant
    /// arrives.
    func dequeue(_ ticket: UInt64, key: PoolKey) {
        waiting[ticket] = nil
        if !budgets.giveUp(ticket, key: key) { orphans[ticket] = key }
    }

    private func handle(_ message: BudgetMessage) {
        switch message {
        case .granted(let ticket):
            if let exchange = waiting.removeValue(forKey: ticket) { return exchange.granted() }
            if let key = orphans.removeValue(forKey: ticket) { budgets.release(key) }
        case .releaseIdle(let key):
            let connection = if let key { pool.oldestConnection(to: key) } else { pool.oldestConnection }
            if let connection { discard(connection) }
        }
    }
}

private final class Sweeper: TimerHandler {
    // The reference is unowned, because a weak reference would make every retain of the transport slower. `close` removes the timer before
    // the transport is released.
    private unowned let transport: Transport
    init(_ transport: Transport) { self.transport = transport }
    func deadlinePassed(_ timer: TimerID) { transport.sweep() }
}
