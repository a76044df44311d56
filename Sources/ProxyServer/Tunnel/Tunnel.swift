import CLarderLinux
import EventLoop
import Glibc
import ProxyCore
import UpstreamTransport

/// A tunnel between a client and an origin (RFC 9110 §9.3.6), or the connection after a 101: relays bytes in both directions,
/// each of which ends separately. Inside TLS an end is signaled by close_notify, otherwise by closing that direction of the
/// connection.
///
/// Between two sockets the kernel moves the bytes (`SplicedDirection`); if TLS ends here on one side, they pass through the channels.
///
/// A tunnel may have a gate. The client's first bytes then go to the gate, and the origin gets nothing until the gate has decided. The
/// other direction is relayed meanwhile, for protocols in which servers send first, unless the gate requires a ClientHello. A refused
/// tunnel has released the origin, and lingers so that the client can read the reason.
///
/// Confined to its loop, which keeps it alive while its descriptors are registered. It owns both connections. Their events are
/// edge-triggered: interest need not be set each time, and a side that has closed while the other is slow causes no repeated events.
final class Tunnel: TimerHandler, BatchHandler {
    private final class UpstreamEnd: EventHandler {
        unowned let tunnel: Tunnel
        init(_ tunnel: Tunnel) { self.tunnel = tunnel }
        func ready(_ events: ReadyEvents) { tunnel.upstreamReady(events) }
    }

    private final class ClientEnd: EventHandler {
        unowned let tunnel: Tunnel
        init(_ tunnel: Tunnel) { self.tunnel = tunnel }
        func ready(_ events: ReadyEvents) { tunnel.clientReady(events) }
    }

    enum Kind {
        /// The relay after a CONNECT: Larder does not know the protocol.
        case blind
        /// The relay after a 101 (Switching Protocols).
        case switched
    }

    /// The response to a successful CONNECT.
    static let greeting: StaticString = "HTTP/1.1 200 OK\r\n\r\n"

    private let worker: LoopWorker
    private let kind: Kind
    private var owner: ExchangeDriver?
    private let near: ClientRelayEnd
    private let origin: SwitchedConnection
    private let toUpstream: any TunnelDirection
    private let toClient: any TunnelDirection
    /// Whether the tunnel resets one side if the other side was cut off, so that the remaining peer does not see a clean end.
    private let resetsWhenCut: Bool
    private var gate: ClientHelloInspector?
    private let uninspected: UninspectedReason?
    /// Bytes that the client sent before the tunnel was open, for the gate.
    private var early: [UInt8]
    private let client: Registration
    private var upstream: Registration?
    private var timer: TimerID?
    private var isContinuing = false
    private var isClosed = false
    private var isRefused = false
    /// Whether the client closed its sending side while the gate was closed.
    private var hasClientEnded = false
    /// Whether the client's ClientHello named the host, as the rules require.
    private var namesHost = false

    private static let reading: Interest = [.read, .peerClose, .edgeTriggered]
    /// The events to wait for on a side after a write to it has blocked. Before that, the loop does not wait for writability: a
    /// side is nearly always writable, and each report would wake the loop for nothing.
    private static let both: Interest = [.read, .write, .peerClose, .edgeTriggered]

    /// Takes ownership of both connections and begins to relay bytes.
    /// - Parameter uninspected: why the tunnel hides its requests, although its host must be intercepted; noted once the tunnel is open.
    static func start(
        _ worker: LoopWorker, connection: ClientConnection, client: ClientConnection.HandedOver, upstream: SwitchedConnection,
        kind: Kind, gate: ClientHelloInspector?, uninspected: UninspectedReason? = nil, owner: ExchangeDriver
    ) {
        let tunnel = Tunnel(
            worker, client: client, upstream: upstream, kind: kind, gate: gate, uninspected: uninspected, owner: owner)
        worker.tunnelStarted(tunnel, from: connection)
        tunnel.begin()
    }

    private init(
        _ worker: LoopWorker, client: ClientConnection.HandedOver, upstream: SwitchedConnection, kind: Kind,
        gate: ClientHelloInspector?, uninspected: UninspectedReason?, owner: ExchangeDriver
    ) {
        self.worker = worker
        self.kind = kind
        self.owner = owner
        self.gate = gate
        self.uninspected = uninspected
        self.client = client.registration
        origin = upstream
        early = gate == nil ? [] : client.received
        let received = gate == nil ? client.received : []
        let holdsServer = gate != nil && owner.tunnelNeedsName
        let isSpliced = !client.channel.isSecured && !upstream.isManaged
        resetsWhenCut = kind == .switched && !isSpliced
        near = ClientRelayEnd(
            client.channel, isSpliced ? OutputQueue() : client.output, through: worker.recordBuffers,
            expectsNotifiedEnd: kind == .switched)
        if isSpliced {
            let descriptor = client.registration.descriptor
            toUpstream = SplicedDirection(from: descriptor, to: upstream.descriptor, received: received)
            toClient = SplicedDirection(
                from: upstream.descriptor, to: descriptor, unsent: client.output.unsent, received: upstream.received,
                holdsSource: holdsServer)
        } else {
            let far = OriginRelayEnd(upstream)
            toUpstream = RelayedDirection(from: near, to: far, received: received, isHeld: gate != nil)
            toClient = RelayedDirection(from: far, to: near, received: upstream.received, holdsSource: holdsServer)
        }
        gate?.attach(to: self)
    }

    private func begin() {
        let loop = worker.loop
        timer = loop.makeTimer(self)
        loop.setHandler(ClientEnd(self), of: client)
        do throws(SystemError) {
            upstream = try loop.register(origin.descriptor, Self.reading, handler: UpstreamEnd(self))
        } catch {
            return close()
        }
        loop.modify(client, Self.reading)
        if gate == nil { noteUninspected() }
        // Held bytes are sent now. All other bytes are moved when the kernel reports the readiness of each side.
        if toUpstream.state == .hasMore { toUpstream.move(through: worker.readBuffer) }
        if toClient.state == .hasMore { toClient.move(through: worker.readBuffer) }
        if let gate, !early.isEmpty {
            gate.take(early.span)
            early = []
        }
        settle()
    }

    func deadlinePassed(_ timer: TimerID) { close() }

    /// Closes at once, for example when the proxy stops. Signals no orderly end, so each side knows that its data is incomplete.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        letGoOfGate()
        if let timer { worker.loop.removeTimer(timer) }
        worker.loop.close(client)
        letGoOfOrigin()
        owner?.tunnelEnded(counts)
        owner = nil
        worker.tunnelEnded(self)
    }

    private func letGoOfOrigin() {
        if let upstream { worker.loop.deregister(upstream) }
        upstream = nil
        origin.close()
    }

    /// Ends the tunnel, because one side was cut off.
    private func cut() {
        if resetsWhenCut {
            // A side to which an end was already signaled is not reset, so that it still receives all bytes before that end.
            if toClient.state != .ended { resetOnClose(client.descriptor) }
            if toUpstream.state != .ended { resetOnClose(origin.descriptor) }
        }
        close()
    }

    private var counts: TunnelCounts {
        TunnelCounts(toUpstream: toUpstream.count, toClient: toClient.count)
    }

    private func clientReady(_ events: ReadyEvents) {
        if events.contains(.failed) { return cut() }
        if isRefused { return discardInput() }
        if gate != nil {
            if events.isEnding { hasClientEnded = true }
            readForGate()
            if isClosed || isRefused { return }
        } else if events.isReadable || events.isBroken {
            toUpstream.sourceReady(isEnding: events.isEnding, through: worker.readBuffer)
        }
        if events.isWritable { toClient.sinkReady(through: worker.readBuffer) }
        settle()
    }

    private func upstreamReady(_ events: ReadyEvents) {
        if events.contains(.failed) { return cut() }
        if events.isReadable || events.isBroken {
            toClient.sourceReady(isEnding: events.isEnding, through: worker.readBuffer)
        }
        if events.isWritable { toUpstream.sinkReady(through: worker.readBuffer) }
        settle()
    }

    func batchEnded() {
        isContinuing = false
        if isClosed || isRefused { return }
        if toUpstream.state == .hasMore { toUpstream.move(through: worker.readBuffer) }
        if toClient.state == .hasMore { toClient.move(through: worker.readBuffer) }
        settle()
    }

    /// Signals the end of one side to the other side, and continues in the next batch if a direction has more bytes than its turn.
    private func settle() {
        if isClosed || isRefused { return }
        let up = toUpstream.state
        let down = toClient.state
        if up == .failed || down == .failed { return cut() }
        if up == .ended && down == .ended { return close() }
        if up == .waitsForSink, let upstream { worker.loop.modify(upstream, Self.both) }
        if down == .waitsForSink { worker.loop.modify(client, Self.both) }
        if up == .hasMore || down == .hasMore, !isContinuing {
            isContinuing = true
            worker.loop.atEndOfBatch(self)
        }
        if let timer { worker.loop.setTimer(timer, afterMilliseconds: worker.settings.timeouts.tunnelIdle) }
    }
}

// MARK: New settings

extension Tunnel {
    /// Called when other settings have become active. If they deny this tunnel, it is reset, so that neither side sees an orderly end.
    func settingsChanged() {
        guard !isClosed, !isRefused, let owner, let fault = denial(of: owner) else { return }
        owner.tunnelRefused(fault, counts)
        self.owner = nil
        resetOnClose(client.descriptor)
        resetOnClose(origin.descriptor)
        close()
    }

    private func denial(of owner: ExchangeDriver) -> Fault? {
        if let fault = owner.exchange.renewVerdict(under: worker.context) { return fault }
        if owner.exchange.obligations.limitsContent { return .contentHidden }
        guard kind == .blind else { return owner.tunnel.switchedFault(of: owner, on: origin) }
        if owner.exchange.obligations.tunnel == .inspectedOnly { return .egressDenied }
        // The client's first bytes were forwarded without inspection.
        if gate == nil, owner.tunnelNeedsName, !namesHost { return FaultMapping.fault(TunnelRefusal.openedBefore) }
        return owner.tunnel.transportFault(of: owner, at: origin.descriptor)
    }

    /// The active rules' verdict on the CONNECT, while the gate is closed.
    func renewVerdict() -> Fault? {
        guard let owner else { return nil }
        return owner.exchange.renewVerdict(under: worker.context) ?? owner.exchange.tunnelFault
    }

    /// Whether the ClientHello must name the host of the CONNECT.
    var needsName: Bool { owner?.tunnelNeedsName == true }
}

// MARK: The gate

extension Tunnel {
    /// Notes the outcome of the CONNECT for the log.
    func note(_ outcome: ConnectOutcome) { owner?.logged.connectOutcome = outcome }

    /// Called when the server has been verified for this tunnel, and is trusted.
    func note(_ judgement: Judgement) {
        // The verdict was cached: the chain noted by an earlier probe stays.
        if judgement.chain.isEmpty { return }
        owner?.logged.judgedChain = judgement.chain
        owner?.logged.judgedName = judgement.host
    }

    /// Sends the bytes that the gate held to the origin, and then all others.
    func open(with held: [UInt8]) {
        gate = nil
        namesHost = owner?.tunnelNeedsName == true
        toClient.releaseSource()
        noteUninspected()
        toUpstream.resume(with: held, isEnding: hasClientEnded)
        toUpstream.move(through: worker.readBuffer)
        if toClient.state == .hasMore { toClient.move(through: worker.readBuffer) }
        settle()
    }

    /// Called when the server is not trusted, or could not be verified.
    func refuse(_ error: TransportError) {
        refuse(owner?.tellFault(error) ?? FaultMapping.fault(error), alert: .unrecognizedName)
    }

    /// Refuses the tunnel: the origin gets nothing. Sends the client an alert, if there is one.
    func refuse(_ fault: Fault, alert: TLSAlert?) {
        gate = nil
        isRefused = true
        letGoOfOrigin()
        owner?.tunnelRefused(fault, counts)
        owner = nil
        // If the client does not read the alert, it sees the end of the connection.
        if let alert, toClient.isEmptied { near.send(alert.record.span) }
        _ = near.endSending()
        _ = shutdown(client.descriptor, Int32(SHUT_WR))
        if let timer { worker.loop.setTimer(timer, afterMilliseconds: worker.settings.timeouts.lingering) }
        discardInput()
    }

    private func noteUninspected() {
        if let uninspected { owner?.noteHidden(uninspected) }
    }

    private func letGoOfGate() {
        gate?.cancel()
        gate = nil
    }

    private func readForGate() {
        let buffer = worker.readBuffer
        while let gate, gate.isReading {
            switch near.receive(into: buffer) {
            case .octets(let count):
                UnsafeRawBufferPointer(rebasing: buffer[..<count]).withMemoryRebound(to: UInt8.self) { gate.take($0.span) }
            case .ended:
                hasClientEnded = true
                gate.inputEnded()
            case .wouldBlock: return
            case .failed: return close()
            case nil: break
            }
        }
    }

    /// Discards input until the client has read its alert and closed, or until the time limit.
    private func discardInput() {
        let buffer = worker.readBuffer
        for _ in 0..<Self.discardsPerTurn {
            let count = recv(client.descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 || (count < 0 && errno == EINTR) { continue }
            if count == 0 || errno != EAGAIN { close() }
            return
        }
        // A client that still sends so many bytes does not wait for a response.
        close()
    }

    private static let discardsPerTurn = 16
}

extension ReadyEvents {
    /// Whether the peer sends no more than the kernel already holds.
    fileprivate var isEnding: Bool { contains(.peerClosed) || isBroken }
}
