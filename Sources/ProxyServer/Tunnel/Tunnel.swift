import CLinux
import EventLoop
import Glibc

/// A blind tunnel between a client and an origin (RFC 9110 §9.3.6): bytes both ways, each direction ending by itself.
///
/// Confined to its loop, which keeps it alive while its descriptors are registered. Owns both descriptors, which are watched by
/// edges: what is waited for need not be said anew each time, and a side that has hung up while the other is slow to read wakes
/// nobody.
final class Tunnel: TimerHandler, BatchHandler {
    struct Counts: Sendable {
        var toUpstream: UInt64 = 0
        var toClient: UInt64 = 0
    }

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

    /// What a successful CONNECT is answered with.
    static let greeting: StaticString = "HTTP/1.1 200 OK\r\n\r\n"

    private let worker: LoopWorker
    private var owner: ExchangeDriver?
    private var toUpstream: TunnelDirection
    private var toClient: TunnelDirection
    private let earlyCount: Int
    private let client: Registration
    private var upstream: Registration?
    private var timer: TimerID?
    private var hasToldUpstream = false
    private var hasToldClient = false
    private var isContinuing = false
    private var isClosed = false

    private static let reading: Interest = [.read, .peerClose, .edgeTriggered]
    /// From a sink's first delay on, for good: until then its readiness would wake the tunnel for nothing.
    private static let both: Interest = [.read, .write, .peerClose, .edgeTriggered]

    /// Takes both descriptors over and begins to move bytes.
    static func start(
        _ worker: LoopWorker, connection: ClientConnection, client: ClientConnection.HandedOver, upstream: Int32,
        owner: ExchangeDriver
    ) {
        let tunnel = Tunnel(worker, client: client, upstream: upstream, owner: owner)
        worker.tunnelStarted(tunnel, from: connection)
        tunnel.begin()
    }

    private init(_ worker: LoopWorker, client: ClientConnection.HandedOver, upstream: Int32, owner: ExchangeDriver) {
        self.worker = worker
        self.owner = owner
        self.client = client.registration
        earlyCount = client.received.count
        toUpstream = TunnelDirection(from: client.registration.descriptor, to: upstream, held: client.received)
        toClient = TunnelDirection(from: upstream, to: client.registration.descriptor, held: client.unsent)
    }

    private func begin() {
        let loop = worker.loop
        timer = loop.makeTimer(self)
        loop.setHandler(ClientEnd(self), of: client)
        do throws(SystemError) {
            upstream = try loop.register(toUpstream.sink, Self.reading, handler: UpstreamEnd(self))
        } catch {
            _ = Glibc.close(toUpstream.sink)
            return close()
        }
        loop.modify(client, Self.reading)
        // What is held goes out now; for the rest the kernel first reports what each side is ready for as it is now.
        if toUpstream.state == .hasMore { toUpstream.move(through: worker.readBuffer) }
        if toClient.state == .hasMore { toClient.move(through: worker.readBuffer) }
        settle()
    }

    func deadlinePassed(_ timer: TimerID) { close() }

    /// Stops at once, as when the proxy ends.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let timer { worker.loop.removeTimer(timer) }
        worker.loop.close(client)
        if let upstream { worker.loop.close(upstream) }
        let counts = Counts(toUpstream: toUpstream.count + UInt64(earlyCount), toClient: toClient.count)
        owner?.tunnelEnded(counts)
        owner = nil
        worker.tunnelEnded(self)
    }

    private func clientReady(_ events: ReadyEvents) {
        if events.contains(.failed) { return close() }
        if events.isReadable || events.isBroken {
            toUpstream.sourceReady(isEnding: events.isEnding, through: worker.readBuffer)
        }
        if events.isWritable { toClient.sinkReady(through: worker.readBuffer) }
        settle()
    }

    private func upstreamReady(_ events: ReadyEvents) {
        if events.contains(.failed) { return close() }
        if events.isReadable || events.isBroken {
            toClient.sourceReady(isEnding: events.isEnding, through: worker.readBuffer)
        }
        if events.isWritable { toUpstream.sinkReady(through: worker.readBuffer) }
        settle()
    }

    func batchEnded() {
        isContinuing = false
        if isClosed { return }
        if toUpstream.state == .hasMore { toUpstream.move(through: worker.readBuffer) }
        if toClient.state == .hasMore { toClient.move(through: worker.readBuffer) }
        settle()
    }

    /// Passes ends on, and goes on in the next batch where a direction's turn was over before its bytes.
    private func settle() {
        let up = toUpstream.state
        let down = toClient.state
        if up == .failed || down == .failed || (up == .ended && down == .ended) { return close() }
        if up == .ended, !hasToldUpstream {
            hasToldUpstream = true
            _ = shutdown(toUpstream.sink, Int32(SHUT_WR))
        }
        if down == .ended, !hasToldClient {
            hasToldClient = true
            _ = shutdown(toClient.sink, Int32(SHUT_WR))
        }
        if up == .waitsForSink, let upstream { worker.loop.modify(upstream, Self.both) }
        if down == .waitsForSink { worker.loop.modify(client, Self.both) }
        if up == .hasMore || down == .hasMore, !isContinuing {
            isContinuing = true
            worker.loop.atEndOfBatch(self)
        }
        if let timer { worker.loop.setTimer(timer, afterMilliseconds: worker.settings.timeouts.tunnelIdle) }
    }
}

extension ReadyEvents {
    /// No more will come from there than what the kernel holds.
    fileprivate var isEnding: Bool { contains(.peerClosed) || isBroken }
}
