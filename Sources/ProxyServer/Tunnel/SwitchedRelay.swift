import EventLoop
import ProxyCore
import UpstreamTransport

/// What follows a 101 where TLS ends here, on one side at least: bytes both ways, each direction ending by itself, as in a `Tunnel`. An
/// end inside TLS is told by a close_notify, outside of it by the end of that way of the connection.
///
/// Confined to its loop, which keeps it alive while its descriptors are registered. Owns both connections, which are watched by edges.
final class SwitchedRelay: RunningTunnel, TimerHandler, BatchHandler {
    private final class OriginWatch: EventHandler {
        unowned let relay: SwitchedRelay
        init(_ relay: SwitchedRelay) { self.relay = relay }
        func ready(_ events: ReadyEvents) { relay.originReady(events) }
    }

    private final class ClientWatch: EventHandler {
        unowned let relay: SwitchedRelay
        init(_ relay: SwitchedRelay) { self.relay = relay }
        func ready(_ events: ReadyEvents) { relay.clientReady(events) }
    }

    private let worker: LoopWorker
    private var owner: ExchangeDriver?
    private let client: Registration
    private let origin: SwitchedConnection
    private var originWatch: Registration?
    private var toOrigin: RelayDirection
    private var toClient: RelayDirection
    private var timer: TimerID?
    private var isContinuing = false
    private var isClosed = false

    private static let reading: Interest = [.read, .peerClose, .edgeTriggered]
    /// From a sink's first delay on, for good: until then its readiness would wake the relay for nothing.
    private static let both: Interest = [.read, .write, .peerClose, .edgeTriggered]

    /// Takes both connections over and begins to move bytes.
    static func start(
        _ worker: LoopWorker, connection: ClientConnection, client: ClientConnection.HandedOver, origin: SwitchedConnection,
        owner: ExchangeDriver
    ) {
        let relay = SwitchedRelay(worker, client: client, origin: origin, owner: owner)
        worker.tunnelStarted(relay, from: connection)
        relay.begin()
    }

    private init(
        _ worker: LoopWorker, client: ClientConnection.HandedOver, origin: SwitchedConnection, owner: ExchangeDriver
    ) {
        self.worker = worker
        self.owner = owner
        self.client = client.registration
        self.origin = origin
        let near = ClientRelayEnd(client.channel, client.output, through: worker.recordBuffers)
        let far = OriginRelayEnd(origin)
        toOrigin = RelayDirection(from: near, to: far, received: client.received)
        toClient = RelayDirection(from: far, to: near, received: origin.received)
    }

    private func begin() {
        let loop = worker.loop
        timer = loop.makeTimer(self)
        loop.setHandler(ClientWatch(self), of: client)
        do throws(SystemError) {
            originWatch = try loop.register(origin.descriptor, Self.reading, handler: OriginWatch(self))
        } catch {
            return close()
        }
        loop.modify(client, Self.reading)
        move()
    }

    func deadlinePassed(_ timer: TimerID) { close() }

    /// Without a word to either side that was not said: who is not told of an end takes what came for what it is, a part.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let timer { worker.loop.removeTimer(timer) }
        worker.loop.close(client)
        if let originWatch { worker.loop.deregister(originWatch) }
        origin.close()
        owner?.tunnelEnded(TunnelCounts(toUpstream: toOrigin.count, toClient: toClient.count))
        owner = nil
        worker.tunnelEnded(self)
    }

    /// One side has broken off, and the other is not to take that for an end. Who has been told of an end gets what is before it.
    private func cut() {
        if toClient.state != .ended { resetOnClose(client.descriptor) }
        if toOrigin.state != .ended { resetOnClose(origin.descriptor) }
        close()
    }

    private func clientReady(_ events: ReadyEvents) {
        if events.contains(.failed) { return cut() }
        if events.isReadable || events.isBroken { toOrigin.sourceReady(through: worker.readBuffer) }
        if events.isWritable { toClient.sinkReady(through: worker.readBuffer) }
        settle()
    }

    private func originReady(_ events: ReadyEvents) {
        if events.contains(.failed) { return cut() }
        if events.isReadable || events.isBroken { toClient.sourceReady(through: worker.readBuffer) }
        if events.isWritable { toOrigin.sinkReady(through: worker.readBuffer) }
        settle()
    }

    func batchEnded() {
        isContinuing = false
        if !isClosed { move() }
    }

    /// Goes on where nobody is waited for.
    private func move() {
        if toOrigin.state == .hasMore { toOrigin.move(through: worker.readBuffer) }
        if toClient.state == .hasMore { toClient.move(through: worker.readBuffer) }
        settle()
    }

    private func settle() {
        let (up, down) = (toOrigin.state, toClient.state)
        if up == .failed || down == .failed { return cut() }
        if up == .ended && down == .ended { return close() }
        if up == .waitsForSink, let originWatch { worker.loop.modify(originWatch, Self.both) }
        if down == .waitsForSink { worker.loop.modify(client, Self.both) }
        if up == .hasMore || down == .hasMore, !isContinuing {
            isContinuing = true
            worker.loop.atEndOfBatch(self)
        }
        if let timer { worker.loop.setTimer(timer, afterMilliseconds: worker.settings.timeouts.tunnelIdle) }
    }
}
