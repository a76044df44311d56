import CLinux
import EventLoop
import Glibc
import ProxyCore
import UpstreamTransport

/// A tunnel between a client and an origin (RFC 9110 §9.3.6), or what follows a 101: bytes both ways, each direction ending by itself. An
/// end inside TLS is told by a close_notify, outside of it by the end of that way of the connection.
///
/// Between two sockets the kernel moves the bytes (`SplicedDirection`); where TLS ends here on one side, they go through the channels.
///
/// Where it has a gate, what the client sends first goes to the gate, and the origin gets nothing until that has decided; the other
/// direction moves meanwhile, for protocols in which servers speak first. A tunnel that is refused has let go of the origin and lingers
/// so that the client can read why.
///
/// Confined to its loop, which keeps it alive while its descriptors are registered. Owns both connections, which are watched by
/// edges: what is waited for need not be said anew each time, and a side that has hung up while the other is slow to read wakes
/// nobody.
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
        /// Of a CONNECT: the bytes are a protocol's that Larder does not know.
        case blind
        /// Behind a 101.
        case switched
    }

    /// What a successful CONNECT is answered with.
    static let greeting: StaticString = "HTTP/1.1 200 OK\r\n\r\n"

    private let worker: LoopWorker
    private var owner: ExchangeDriver?
    private let near: ClientRelayEnd
    private let origin: SwitchedConnection
    private let toUpstream: any TunnelDirection
    private let toClient: any TunnelDirection
    /// A side that is cut off takes the other with it by a reset, which is not to be taken for an end.
    private let resetsWhenCut: Bool
    private var gate: ClientHelloInspector?
    private let uninspected: UninspectedReason?
    /// What the client sent before there was a tunnel, where the gate is to see it.
    private var early: [UInt8]
    private let client: Registration
    private var upstream: Registration?
    private var timer: TimerID?
    private var isContinuing = false
    private var isClosed = false
    private var isRefused = false
    /// The client sends no more, which was seen while the gate was shut.
    private var hasClientEnded = false

    private static let reading: Interest = [.read, .peerClose, .edgeTriggered]
    /// From a sink's first delay on, for good: until then its readiness would wake the tunnel for nothing.
    private static let both: Interest = [.read, .write, .peerClose, .edgeTriggered]

    /// Takes both connections over and begins to move bytes.
    /// - Parameter uninspected: why the tunnel hides its requests, though its host is to be intercepted; noted once it is open.
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
        self.owner = owner
        self.gate = gate
        self.uninspected = uninspected
        self.client = client.registration
        origin = upstream
        early = gate == nil ? [] : client.received
        let received = gate == nil ? client.received : []
        let isSpliced = !client.channel.isSecured && !upstream.isSecure
        resetsWhenCut = kind == .switched && !isSpliced
        near = ClientRelayEnd(
            client.channel, isSpliced ? OutputQueue() : client.output, through: worker.recordBuffers,
            expectsNotifiedEnd: kind == .switched)
        if isSpliced {
            let descriptor = client.registration.descriptor
            toUpstream = SplicedDirection(from: descriptor, to: upstream.descriptor, received: received)
            toClient = SplicedDirection(
                from: upstream.descriptor, to: descriptor, unsent: client.output.unsent, received: upstream.received)
        } else {
            let far = OriginRelayEnd(upstream)
            toUpstream = RelayedDirection(from: near, to: far, received: received, isHeld: gate != nil)
            toClient = RelayedDirection(from: far, to: near, received: upstream.received)
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
        // What is held goes out now; for the rest the kernel first reports what each side is ready for as it is now.
        if toUpstream.state == .hasMore { toUpstream.move(through: worker.readBuffer) }
        if toClient.state == .hasMore { toClient.move(through: worker.readBuffer) }
        if let gate, !early.isEmpty {
            gate.take(early.span)
            early = []
        }
        settle()
    }

    func deadlinePassed(_ timer: TimerID) { close() }

    /// Stops at once, as when the proxy ends, without a word to either side that was not said: a side that is not told of an end takes
    /// what came for what it is, a part.
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

    /// One side has broken off.
    private func cut() {
        if resetsWhenCut {
            // What is told of an end gets what is before it.
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

    /// Passes ends on, and goes on in the next batch where a direction's turn was over before its bytes.
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

// MARK: The gate

extension Tunnel {
    /// What the log says that CONNECT got.
    func note(_ outcome: ConnectOutcome) { owner?.delivery.connectOutcome = outcome }

    /// The server has been judged for this tunnel, and is believed.
    func note(_ judgement: Judgement) {
        // By a verdict that was kept: what a probe before has told stays.
        if judgement.chain.isEmpty { return }
        owner?.delivery.judgedChain = judgement.chain
        owner?.delivery.judgedName = judgement.host
    }

    /// What the gate has held goes to the origin, and all else after it.
    func open(with held: [UInt8]) {
        gate = nil
        noteUninspected()
        toUpstream.resume(with: held, isEnding: hasClientEnded)
        toUpstream.move(through: worker.readBuffer)
        settle()
    }

    /// The server is not believed, or could not be judged.
    func refuse(_ error: TransportError) {
        refuse(owner?.tellFault(error) ?? FaultMapping.fault(error), alert: .unrecognizedName)
    }

    /// The origin has got nothing, and gets nothing. The client is told by an alert, if there is one for it.
    func refuse(_ fault: Fault, alert: TLSAlert?) {
        gate = nil
        isRefused = true
        letGoOfOrigin()
        owner?.tunnelRefused(fault, counts)
        owner = nil
        // Where the client takes it no more, it sees the end.
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

    /// Until the client has read its alert and ends too, or has had its time.
    private func discardInput() {
        let buffer = worker.readBuffer
        for _ in 0..<Self.discardsPerTurn {
            let count = recv(client.descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 || (count < 0 && errno == EINTR) { continue }
            if count == 0 || errno != EAGAIN { close() }
            return
        }
        // Whoever sends so much does not wait for an answer.
        close()
    }

    private static let discardsPerTurn = 16
}

extension ReadyEvents {
    /// No more will come from there than what the kernel holds.
    fileprivate var isEnding: Bool { contains(.peerClosed) || isBroken }
}
