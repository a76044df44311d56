import CLinux
import EventLoop
import Glibc

/// A blind tunnel between a client and an origin (RFC 9110 §9.3.6): bytes both ways, each direction ending by itself.
///
/// Confined to its loop, which keeps it alive while its descriptors are registered. Owns both descriptors.
final class Tunnel: TimerHandler {
    struct Counts: Sendable {
        var toUpstream: UInt64 = 0
        var toClient: UInt64 = 0
    }

    private final class End: EventHandler {
        unowned let tunnel: Tunnel
        init(_ tunnel: Tunnel) { self.tunnel = tunnel }
        func ready(_ events: ReadyEvents) { tunnel.move(failed: events.contains(.failed)) }
    }

    private let worker: LoopWorker
    private var owner: ExchangeDriver?
    private let client: Int32
    private let upstream: Int32
    private var toUpstream: TunnelDirection
    private var toClient: TunnelDirection
    private var clientRegistration: Registration?
    private var upstreamRegistration: Registration?
    private var timer: TimerID?
    private var ends: (End, End)?
    private var isClosed = false

    /// Takes both descriptors over and begins to move bytes.
    static func start(
        _ worker: LoopWorker, connection: ClientConnection, client: Int32, upstream: Int32, alreadyRead: [UInt8],
        owner: ExchangeDriver
    ) {
        let tunnel = Tunnel(worker, client: client, upstream: upstream, alreadyRead: alreadyRead, owner: owner)
        worker.tunnelStarted(tunnel, from: connection)
        tunnel.begin()
    }

    private init(_ worker: LoopWorker, client: Int32, upstream: Int32, alreadyRead: [UInt8], owner: ExchangeDriver) {
        self.worker = worker
        self.owner = owner
        self.client = client
        self.upstream = upstream
        toUpstream = TunnelDirection(from: client, to: upstream, alreadyRead: alreadyRead)
        toClient = TunnelDirection(from: upstream, to: client, alreadyRead: Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    }

    private func begin() {
        let ends = (End(self), End(self))
        self.ends = ends
        timer = worker.loop.makeTimer(self)
        do throws(SystemError) {
            clientRegistration = try worker.loop.register(client, .read, handler: ends.0)
            upstreamRegistration = try worker.loop.register(upstream, .read, handler: ends.1)
        } catch {
            return close()
        }
        move(failed: false)
    }

    func deadlinePassed(_ timer: TimerID) { close() }

    /// Stops at once, as when the proxy ends.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let timer { worker.loop.removeTimer(timer) }
        if let clientRegistration { worker.loop.deregister(clientRegistration) }
        if let upstreamRegistration { worker.loop.deregister(upstreamRegistration) }
        _ = Glibc.close(client)
        _ = Glibc.close(upstream)
        let greeting: UInt64 = 19
        let counts = Counts(toUpstream: toUpstream.count, toClient: toClient.count - min(toClient.count, greeting))
        owner?.tunnelEnded(counts)
        owner = nil
        worker.tunnelEnded(self)
    }

    private func move(failed: Bool) {
        guard !isClosed else { return }
        if failed { return close() }
        let up = toUpstream.move(through: worker.readBuffer)
        let down = toClient.move(through: worker.readBuffer)
        if case .failed = up { return close() }
        if case .failed = down { return close() }
        if toUpstream.hasEnded, toClient.hasEnded { return close() }
        var clientInterest = Interest()
        var upstreamInterest = Interest()
        Self.note(up, source: &clientInterest, sink: &upstreamInterest)
        Self.note(down, source: &upstreamInterest, sink: &clientInterest)
        if let clientRegistration { worker.loop.modify(clientRegistration, clientInterest) }
        if let upstreamRegistration { worker.loop.modify(upstreamRegistration, upstreamInterest) }
        if let timer { worker.loop.setTimer(timer, afterMilliseconds: worker.settings.timeouts.tunnelIdle) }
    }

    private static func note(_ step: TunnelDirection.Step, source: inout Interest, sink: inout Interest) {
        switch step {
        case .waitsToRead: source.insert(.read)
        case .waitsToWrite: sink.insert(.write)
        case .ended, .failed: break
        }
    }
}
