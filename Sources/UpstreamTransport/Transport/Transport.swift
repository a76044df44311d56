import EventLoop
import HTTPMessage
import HTTPWire
import ServerTrust

/// Exchanges with origins over pooled connections: one for each loop, and confined to it.
///
/// The `Connector` connects, HTTPWire frames, and the pool of idle connections is kept here. Limits over all loops stand in
/// the `UpstreamBudgets` they share. `close` must be called before the transport is let go.
package final class Transport {
    package let configuration: TransportConfiguration
    let loop: EventLoop
    let budgets: UpstreamBudgets
    let pool = ConnectionPool()
    /// Where every read of this loop goes: a head's kept beginning and one read behind it.
    let readBuffer: UnsafeMutableRawBufferPointer
    var tunnels: [ObjectIdentifier: TunnelOpening] = [:]
    var probes: [TrustVerdictCache.Key: Probe] = [:]
    var earlyConnections: [ObjectIdentifier: Preconnect] = [:]

    static let readLength = 64 * 1024
    private static let spareExchangeLimit = 1024

    let connector: Connector
    /// Asked of each exchange: an optional struct is copied when it is compared with nothing.
    private let hasProxy: Bool
    private var port: Port<BudgetMessage>?
    private var member = 0
    private var exchanges: [UpstreamExchange] = []
    @exclusivity(unchecked) private var spare: [UpstreamExchange] = []
    private var nextNumber: UInt64 = 1
    private var waiting: [UInt64: UpstreamExchange] = [:]
    /// Exchanges that gave up while their grant was on its way.
    private var orphans: [UInt64: PoolKey] = [:]
    private var connectionCount = 0
    /// Connections that were given away and speak another protocol, inside of TLS that is ours.
    var switchedCount = 0
    private var sweepTimer: TimerID?
    private var isSweepPlanned = false
    private var isClosed = false

    package init(loop: EventLoop, configuration: TransportConfiguration, budgets: UpstreamBudgets) {
        self.loop = loop
        self.configuration = configuration
        hasProxy = configuration.proxy != nil
        self.budgets = budgets
        connector = Connector(
            loop: loop, addresses: configuration.addresses, lookUpLimit: configuration.lookUps, gate: configuration.gate,
            audit: configuration.audit)
        readBuffer = .allocate(byteCount: configuration.limits.headLength + Self.readLength, alignment: 64)
        let port = loop.port { [unowned self] (message: BudgetMessage) in self.handle(message) }
        self.port = port
        member = budgets.join(port)
        sweepTimer = loop.makeTimer(Sweeper(self))
    }

    deinit {
        precondition(isClosed, "a transport is closed on its loop before it is let go")
        readBuffer.deallocate()
    }

    /// Begins an exchange. The delegate is kept until its end, and never called before `open` returns.
    package func open(_ request: UpstreamRequest, delegate: any OriginExchangeDelegate) -> OriginExchange {
        let exchange = spare.popLast() ?? makeExchange()
        let number = nextNumber
        nextNumber += 1
        exchange.begin(request, number: number, delegate: delegate)
        return OriginExchange(exchange: exchange, number: number)
    }

    /// Begins to open a tunnel to this host and port, as far as the settings let CONNECT have one; the origin's scheme does not matter.
    /// - Parameters:
    ///   - via: The value of Via for an upstream proxy, so that a loop comes to its end (RFC 9110 §7.6.3).
    ///   - isPlain: the client speaks no TLS, and what `permitsUninspected` says of the host was heeded: its server is not judged.
    package func openTunnel(
        to origin: Origin, via: @autoclosure () -> String, isPlain: Bool = false, delegate: any TunnelDelegate
    ) -> TunnelOpening {
        let tunnel = TunnelOpening(
            self, to: origin, via: configuration.proxy == nil ? "" : via(), isPlain: isPlain,
            milliseconds: configuration.timeouts.connect, delegate: delegate)
        tunnel.begin()
        return tunnel
    }

    /// Fails what is under way with `transportClosed` and closes every connection. Nothing may be opened after it.
    package func close() {
        if isClosed { return }
        isClosed = true
        for exchange in exchanges where exchange.isActive { exchange.fail(.transportClosed) }
        for tunnel in Array(tunnels.values) { tunnel.fail(.transportClosed) }
        for probe in Array(probes.values) { probe.fail(.transportClosed) }
        for early in Array(earlyConnections.values) { early.giveUp() }
        closeIdleConnections()
        for exchange in exchanges { exchange.discard() }
        exchanges = []
        spare = []
        // Grants on their way will find the port closed.
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

    /// This loop's connections (idle ones among them) and waiting exchanges.
    package var statistics: (connections: Int, idle: Int, waiting: Int) { (connectionCount, pool.count, waiting.count) }

    /// Nothing is under way: no connection but idle ones, none that speaks another protocol, no exchange that waits, connects or is between
    /// two attempts, no tunnel, no probe, no connection that nobody has asked for yet.
    package var isQuiet: Bool {
        connectionCount == pool.count && switchedCount == 0 && waiting.isEmpty && tunnels.isEmpty && probes.isEmpty
            && earlyConnections.isEmpty && !exchanges.contains { $0.isActive }
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
        return refusalByName(origin)
    }

    /// An address written as the host is judged before anything is asked, in every spelling that look-up would understand;
    /// what a name leads to is judged when it is connected to.
    func refusalByName(_ origin: Origin) -> TransportError? {
        guard origin.hasPlainHost else { return .malformedHost }
        let host = Array(origin.host.utf8)
        guard let address = IPAddress(asLookedUp: host.span) else { return nil }
        let refusal = configuration.addresses.refusal(of: address, port: origin.port)
        // Behind a proxy the address is another machine's, for all we know.
        return configuration.proxy != nil && refusal == .ownListener ? nil : refusal
    }

    // MARK: Connections

    /// The server for exchanges with this origin, or why nothing may be sent to it.
    func use(_ origin: Origin) throws(TransportError) -> Endpoint {
        if isClosed { throw .transportClosed }
        guard configuration.gate.isOpen(to: origin.host) else { throw .egressClosed }
        // Behind a proxy no address is connected to here, so what the host says has to do.
        if hasProxy, let refusal = refusalByName(origin) { throw refusal }
        if origin.scheme == .https, !hasProxy || configuration.proxy?.asksSecurely != true { return try useSecurely(origin) }
        // Also for what was begun by older settings.
        if origin.scheme == .http, forbidsPlaintext(to: origin.host, port: origin.port) { throw .plaintextToPinnedHost }
        guard hasProxy, let proxy = configuration.proxy else {
            return pool.useRecent(direct: origin) ?? pool.use(PoolKey(direct: origin))
        }
        return pool.use(PoolKey(forwardingProxy: proxy))
    }

    private func useSecurely(_ origin: Origin) throws(TransportError) -> Endpoint {
        // The policy of an origin is the same for as long as there is this transport.
        if let endpoint = pool.useRecent(origin) { return endpoint }
        let policy = try policy(host: origin.host, port: origin.port)
        let key = PoolKey(secure: origin, through: configuration.proxy, trustFingerprint: policy.fingerprint)
        let endpoint = pool.use(key)
        if endpoint.trust == nil {
            endpoint.trust = policy
            endpoint.identity = configuration.identities.value(host: origin.host, port: origin.port)
        }
        return endpoint
    }

    /// Counts one more connection, at the cost of the oldest idle one where all are too many.
    func acquire(_ key: PoolKey) -> Bool {
        if budgets.acquire(key) { return true }
        guard budgets.isFull(for: key), let oldest = pool.oldestConnection else { return false }
        discard(oldest)
        return budgets.acquire(key)
    }

    /// Whether requests to this origin go through a tunnel that an upstream proxy is asked for.
    package func asksForTunnel(to scheme: Origin.Scheme) -> Bool { scheme == .https && configuration.proxy != nil }

    /// - Parameter via: for the upstream proxy, where it is asked for a tunnel.
    func connect(
        to endpoint: Endpoint, via: String, milliseconds: Int, observer: any ConnectObserver
    ) -> any ConnectAttempt {
        let key = endpoint.key
        let target = ConnectTarget(
            host: key.origin.host, port: key.origin.port,
            addresses: key.tunnelProxy == nil ? configuration.resolve[key.origin.host] ?? [] : [],
            tunnelProxy: key.tunnelProxy, via: via, trust: endpoint.trust, identity: endpoint.identity,
            writeKeys: configuration.writeKeys)
        return connector.connect(to: target, milliseconds: milliseconds, observer: observer)
    }

    /// - Parameter address: the one to connect to, in place of all that the host has.
    func connectTunnel(
        to origin: Origin, at address: IPAddress?, via: String, milliseconds: Int, observer: any ConnectObserver
    ) -> any ConnectAttempt {
        let target = ConnectTarget(
            host: origin.host, port: origin.port, addresses: address.map { [$0] } ?? addresses(of: origin.host),
            tunnelProxy: configuration.proxy, via: via)
        return connector.connect(to: target, milliseconds: milliseconds, observer: observer)
    }

    /// What the settings say that the host's addresses are. Behind a proxy that is the proxy's business.
    func addresses(of host: String) -> [IPAddress] {
        configuration.proxy == nil ? configuration.resolve[host] ?? [] : []
    }

    func didOpen(_ connection: UpstreamConnection) {
        connectionCount += 1
        pool.addUse(of: connection.endpoint)
    }

    func didClose(_ connection: UpstreamConnection) {
        connectionCount -= 1
        pool.endUse(of: connection.endpoint)
        budgets.release(connection.endpoint.key)
    }

    /// An exchange has done with its connection.
    func becameIdle(_ connection: UpstreamConnection) {
        if isClosed { return connection.close() }
        if budgets.hasWaiters {
            guard connection.isReusable else { return connection.close() }
            switch budgets.settle(afterUseOf: connection.endpoint.key, member: member) {
            case .keep: break
            case .close: return connection.close()
            case .handOver(let ticket):
                if let exchange = waiting.removeValue(forKey: ticket) { return exchange.granted(connection) }
            }
        }
        if connection.endpoint.idleCount >= configuration.idleConnectionsPerOrigin { return connection.close() }
        connection.idleSince = loop.now
        pool.insert(connection)
        if pool.count > configuration.idleConnections, let oldest = pool.oldestConnection { discard(oldest) }
        planSweep()
    }

    func idleConnectionStirred(_ connection: UpstreamConnection) { discard(connection) }

    private func discard(_ connection: UpstreamConnection) {
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

    // MARK: Waiting for the limits

    func enqueue(_ exchange: UpstreamExchange, for key: PoolKey) -> UInt64? {
        guard let ticket = budgets.wait(for: key, member: member) else { return nil }
        waiting[ticket] = exchange
        return ticket
    }

    /// Takes an exchange out of the queue; a grant that is on its way is given back when it comes.
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
    // Not weak: a weak reference makes every retain of the transport a slow one. `close` ends the timer first.
    private unowned let transport: Transport
    init(_ transport: Transport) { self.transport = transport }
    func deadlinePassed(_ timer: TimerID) { transport.sweep() }
}
