import AccessLog
import AuditLog
import BodyTransforms
import EventLoop
import HTTPMessage
import HTTPWire
import ProxyCore
import ProxyPolicy
import Recordings
import ResponseStore
import SharedFetches
import TLSChannel
import Telemetry
import UpstreamTransport

/// Everything that belongs to one loop: its connections, its drivers, its transport. Confined to the loop's thread.
final class LoopWorker {
    let loop: EventLoop
    let index: Int
    let shared: ServerShared
    let transports: WorkerTransports
    private let drivers = DriverPool()
    private let buffers = BufferPool()
    /// The buffer into which this loop reads.
    let readBuffer: UnsafeMutableRawBufferPointer
    /// Buffers for TLS records, before their content goes to `readBuffer`.
    let recordBuffers = RecordBuffers()
    private(set) var interception: Interception?
    private(set) lazy var handshakes = HandshakeQueue(self, beginner: shared.handshakeBeginners[index].handle)
    private(set) lazy var interceptions = FairnessQueue(loop)
    /// The queue of clients that close a TLS connection.
    private(set) lazy var departures = FairnessQueue(loop)
    private(set) var settings: ServerSettings
    private(set) var context: ExchangeContext
    private(set) var recordings: ActiveRecordings?
    /// The cache of responses that were replayed from `recordings`; `nil` before the first such response.
    private(set) var replayMemory: ReplayMemory?
    /// Whether some clients are authenticated.
    private(set) var identifiesClients: Bool
    private var connections: [ObjectIdentifier: ClientConnection] = [:]
    private var http2Warning = RareWarning()
    /// Warnings about failed handshakes, by reason; there are few reasons.
    private var tlsWarnings: [String: RareWarning] = [:]
    /// The members of `connections` whose clients get a refusal.
    private var refused: Set<ObjectIdentifier> = []
    private var tunnels: [ObjectIdentifier: Tunnel] = [:]
    private var http2Connections: [ObjectIdentifier: HTTP2Connection] = [:]
    private var requestCount: UInt64 = 0
    /// The parts of request heads that clients of this loop have sent and are likely to send again.
    @exclusivity(unchecked) var headMemory = RequestHeadMemory()
    private var whenDrained: (() -> Void)?
    /// Whether the server is stopping: no background work begins.
    private(set) var isDraining = false
    let accessLog: AccessLogBuffer
    let auditLog: AuditLog?
    let telemetry: Telemetry?
    @exclusivity(unchecked) private var counts = LoopStatistics()
    @exclusivity(unchecked) var metrics = LoopMetrics()
    let traces: TraceRing
    /// The names of the rules that matched a request, joined for its trace.
    private var ruleNames: [UInt8] = []
    private var listeners: [Listener] = []

    private init(loop: EventLoop, index: Int, shared: ServerShared, loops: Int) {
        self.loop = loop
        self.index = index
        self.shared = shared
        let current = shared.current
        settings = current.settings
        context = current.context
        recordings = current.recordings
        interception = current.interception
        identifiesClients = current.settings.identifiesClients
        transports = WorkerTransports(
            Transport(loop: loop, configuration: current.settings.transport, budgets: shared.budgets),
            ways: current.settings.ways, budgets: shared.budgets, on: loop)
        if index == 0 { transports.beginProbing() }
        accessLog = shared.accessLog.makeBuffer()
        auditLog = shared.auditLog
        telemetry = shared.telemetry
        let traceLimits = current.settings.traceLimits
        traces = TraceRing(loop: index, count: traceLimits.count, byteCount: traceLimits.byteCount / loops)
        readBuffer = .allocate(byteCount: RecordBuffers.contentLength, alignment: 16)
    }

    /// Starts the worker of a loop; called on its thread before it runs. The first loop also listens.
    static func start(on loop: EventLoop, index: Int, shared: ServerShared, sockets: ServingSockets, handles: [LoopHandle]) {
        let worker = LoopWorker(loop: loop, index: index, shared: shared, loops: shared.counts.loops)
        loop.owner = worker
        for (socket, clients) in sockets.all {
            do throws(SystemError) {
                worker.listeners.append(try Listener(worker, socket: socket, for: clients, loops: handles))
            } catch {
                shared.warn("cannot listen on \(socket.address): \(error.call) failed")
            }
        }
    }

    deinit { readBuffer.deallocate() }

    var store: ResponseStore { shared.store }
    var fetches: FetchTable { shared.fetches }
    var checks: CheckPool { shared.checks }
    /// The transport under the active settings; a reload makes a new one.
    var transport: Transport { transports.current }
    /// Tunnels being opened, on all transports.
    var openingTunnels: Int {
        get { transports.openingTunnels }
        set { transports.openingTunnels = newValue }
    }
    /// Wall-clock time, read once in each batch.
    var now: Timestamp { Timestamp(milliseconds: loop.wallClockMilliseconds) }

    // MARK: Connections

    /// - Parameters:
    ///   - tls: the TLS setup of the listener; `nil` for plain text.
    ///   - origin: the origin that the client connected to; `nil` for the proxy.
    func adopt(descriptor: Int32, peer: PeerAddress, tls: ListenerTLS?, origin: TransparentOrigin?) {
        do throws(SystemError) {
            let connection = try ClientConnection(self, descriptor: descriptor, peer: peer, tls: tls)
            connections[ObjectIdentifier(connection)] = connection
            if let origin { connection.begin(to: origin) }
        } catch {
            closeDescriptor(descriptor)
            shared.counts.closed(on: index)
        }
    }

    /// Takes a connection that another loop has accepted, perhaps under earlier settings, or before that loop knew that the server
    /// drains. If the connection is not allowed now, it is closed at once, as the listener would have done.
    func adoptAccepted(descriptor: Int32, peer: PeerAddress, tls: ListenerTLS?, origin: TransparentOrigin?) {
        guard !isDraining, settings.admission.allows(peer, isCertified: tls?.asksForCertificates == true) else {
            closeDescriptor(descriptor)
            return shared.counts.closed(on: index)
        }
        adopt(descriptor: descriptor, peer: peer, tls: tls, origin: origin)
    }

    /// - Parameter detail: details that the reason does not give.
    func warn(of refusal: TunnelRefusal, _ detail: String?, with peer: PeerAddress, at address: PeerAddress) {
        let reason = "\(refusal.reason)"
        guard tlsWarnings[reason, default: RareWarning()].isDue(at: loop.now) else { return }
        let words = detail.map { "\(reason): \($0)" } ?? reason
        shared.warn(
            "TLS handshake with \(peer.address) on the listener \(address) failed: \(words); reported at most once a minute")
    }

    /// Sends a client a refusal. Refused connections are not counted as served, and their number is limited.
    func refuse(descriptor: Int32, peer: PeerAddress, _ fault: Fault) {
        guard canRefuse else { return closeDescriptor(descriptor) }
        do throws(SystemError) {
            let connection = try ClientConnection(self, descriptor: descriptor, peer: peer)
            connections[ObjectIdentifier(connection)] = connection
            refused.insert(ObjectIdentifier(connection))
            connection.refuse(fault)
        } catch {
            closeDescriptor(descriptor)
        }
    }

    var canRefuse: Bool { refused.count < settings.refusalLimit }

    func connectionClosed(_ connection: ClientConnection) {
        connections[ObjectIdentifier(connection)] = nil
        if refused.remove(ObjectIdentifier(connection)) == nil { shared.counts.closed(on: index) }
        checkDrained()
    }

    func tunnelStarted(_ tunnel: Tunnel, from connection: ClientConnection) {
        connections[ObjectIdentifier(connection)] = nil
        tunnels[ObjectIdentifier(tunnel)] = tunnel
    }

    func tunnelEnded(_ tunnel: Tunnel) {
        tunnels[ObjectIdentifier(tunnel)] = nil
        shared.counts.closed(on: index)
        checkDrained()
    }

    /// Replaces an HTTP/1 connection by an HTTP/2 connection on the same socket.
    func http2Started(_ next: HTTP2Connection, from connection: ClientConnection) {
        connections[ObjectIdentifier(connection)] = nil
        http2Connections[ObjectIdentifier(next)] = next
    }

    func http2Ended(_ connection: HTTP2Connection) {
        http2Connections[ObjectIdentifier(connection)] = nil
        shared.counts.closed(on: index)
        checkDrained()
    }

    func warnOfHTTP2(_ reason: String, with peer: PeerAddress) {
        guard http2Warning.isDue(at: loop.now) else { return }
        shared.warn("closed the HTTP/2 connection of \(peer.address): \(reason); reported at most once a minute")
    }

    /// Whether a tunnel in a stream may get a connection of its own.
    var acceptsInnerConnection: Bool { !isDraining && shared.counts.total < settings.connectionLimit }

    /// Adopts the connection that handles a tunnel in a stream of this client. It counts like any client's connection.
    func adoptInner(descriptor: Int32, of outer: HTTP2Connection) {
        shared.counts.opened(on: index)
        do throws(SystemError) {
            let connection = try ClientConnection(self, descriptor: descriptor, peer: outer.peer)
            connection.user = outer.user
            connection.certificateNames = outer.certificateNames
            connection.isCertified = outer.isCertified
            connection.tunnel = outer.tunnel
            connections[ObjectIdentifier(connection)] = connection
        } catch {
            closeDescriptor(descriptor)
            shared.counts.closed(on: index)
        }
    }

    /// Lends an output buffer while a request is in flight: an idle connection has none.
    func lend(to buffer: inout [UInt8]) { buffers.lend(to: &buffer) }

    func takeBack(_ buffer: inout [UInt8]) { buffers.takeBack(&buffer, upTo: settings.proxyLimits.pipelinedOutput) }

    // MARK: Drivers

    /// A driver for the next request of a client. `attach` begins its exchange with the active settings (`context`).
    func takeDriver(for client: ExchangeClient) -> ExchangeDriver {
        let driver = drivers.take(for: self)
        driver.attach(to: client)
        return driver
    }

    /// A driver for an exchange without a client; kept here until the exchange has ended.
    func takeBackgroundDriver() -> ExchangeDriver {
        let driver = drivers.take(for: self)
        drivers.keepRunning(driver)
        return driver
    }

    func giveBack(_ driver: ExchangeDriver) {
        drivers.giveBack(driver)
        transports.planClosing()
        checkDrained()
    }

    /// Called when the driver's client has left, and the driver continues for other requests.
    func keepRunning(_ driver: ExchangeDriver) { drivers.keepRunning(driver) }

    /// Makes a request id that is unique in this process: the loop's index, followed by a count.
    func nextRequestID() -> UInt64 {
        requestCount &+= 1
        return shared.instance ^ (UInt64(index) << 56) ^ requestCount
    }

    // MARK: Recordings

    /// Keeps a response of the active recordings for equal requests.
    func remember(_ answer: ReplayedAnswer) {
        let memory = replayMemory ?? ReplayMemory(limit: settings.proxyLimits.replayedBytes)
        replayMemory = memory
        memory.keep(answer)
    }

    // MARK: Statistics

    func note(_ outcome: DecisionTrace.Outcome, sentBytes: UInt64) { counts.note(outcome, sentBytes: sentBytes) }

    func note(_ transform: TransformTrace) { counts.note(transform) }

    /// The names of the matching rules, one on each line, in reused storage.
    func ruleNames(of matched: borrowing MatchedRules) -> [UInt8] {
        ruleNames.removeAll(keepingCapacity: true)
        for index in 0..<matched.count {
            if index > 0 { ruleNames.append(ASCII.lf) }
            ruleNames.append(matched[index].name.utf8.span)
        }
        return ruleNames
    }

    var statistics: LoopStatistics {
        var statistics = counts
        statistics.connections = connections.count - refused.count + tunnels.count + http2Connections.count
        statistics.tunnels = tunnels.count
        statistics.turns = loop.batchCount
        return statistics
    }

    // MARK: New settings, and stopping

    /// Activates new settings for later requests. Connections to origins are opened again under them.
    func adopt(_ current: ServerShared.Current) {
        settings = current.settings
        context = current.context
        recordings = current.recordings
        replayMemory = nil
        interception = current.interception
        identifiesClients = current.settings.identifiesClients
        transports.replace(
            by: Transport(loop: loop, configuration: current.settings.transport, budgets: shared.budgets),
            ways: current.settings.ways)
        if index == 0 { transports.beginProbing() }
        // Clients that are no longer allowed are disconnected after the current response.
        for connection in Array(connections.values)
        where !settings.admission.allows(connection.peer, isCertified: connection.isCertified) {
            connection.drain()
        }
        for connection in Array(http2Connections.values)
        where !settings.admission.allows(connection.peer, isCertified: connection.isCertified) {
            connection.drain()
        }
        for tunnel in Array(tunnels.values) { tunnel.settingsChanged() }
        transports.planClosing()
    }

    /// Closes idle connections and lets others finish; calls `completion` when none are left.
    func drain(_ completion: @escaping () -> Void) {
        whenDrained = completion
        isDraining = true
        closeListeners()
        for connection in Array(connections.values) { connection.drain() }
        for connection in Array(http2Connections.values) { connection.drain() }
        drivers.giveUpBackground()
        checkDrained()
    }

    /// Closes all listeners, connections and tunnels at once.
    func closeAll() {
        closeListeners()
        for connection in Array(http2Connections.values) { connection.close() }
        for connection in Array(connections.values) { connection.close() }
        for tunnel in Array(tunnels.values) { tunnel.close() }
        transports.closeAll()
        drivers.letGo()
    }

    private func closeListeners() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    private func checkDrained() {
        guard let whenDrained, connections.isEmpty, http2Connections.isEmpty, tunnels.isEmpty, !drivers.hasRunning else {
            return
        }
        self.whenDrained = nil
        whenDrained()
    }
}
