import EventLoop
import Glibc
import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: cancelling exchanges and closing the transport")
struct CancellationTests {
    /// Turns the loop a few times, so that late events arrive.
    private func settle(_ harness: TransportHarness) {
        for _ in 0..<5 { harness.loop.turn(waitingAtMost: 2) }
    }

    @Test("Cancelling during name resolution takes effect at once, although the resolver is still working")
    func whileResolving() throws {
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(recorder, port: 80, host: "no-such-name.invalid")
        harness.loop.turn(waitingAtMost: 0)
        let wasActive = exchange.isActive
        let start = MonotonicTime.read()
        exchange.cancel()
        #expect(MonotonicTime.read().milliseconds(since: start) < Int(Deadline.milliseconds))
        settle(harness)
        // If the resolver answered before the cancellation, the exchange had already ended.
        #expect(recorder.hasEnded != wasActive)
        #expect(!exchange.isActive)
        #expect(harness.budgets.statistics == (0, 0))
        #expect(harness.transport.statistics == (0, 0, 0))
    }

    @Test("A cancelled name resolution keeps its slot until the resolver is done, so that cancelling frees no further threads")
    func keepsPlace() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let harness = try TransportHarness {
            $0.resolve = ["two.test": [.loopbackIPv4, .loopbackIPv6]]
            $0.lookUps = 1
        }
        harness.open(Recorder(), port: 80, host: "no-such-name.invalid").cancel()
        let waiting = (0..<3).map { _ in Recorder() }
        let exchanges = waiting.map { harness.open($0, port: origin.port, host: "two.test") }
        #expect(harness.transport.connector.lookUpsUnderWay == 1)
        exchanges[0].cancel()
        #expect(harness.run { waiting[1...].allSatisfy(\.hasEnded) })
        #expect(waiting[1].isComplete && waiting[2].isComplete && !waiting[0].hasEnded)
        #expect(harness.transport.connector.lookUpsUnderWay == 0)
    }

    @Test("A name that is resolved but whose address does not answer blocks no other name resolution")
    func givesPlaceBackWithAddress() throws {
        let hole = BlackHole()
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let harness = try TransportHarness {
            $0.resolve = ["hole.test": [.loopbackIPv4, .loopbackIPv6], "two.test": [.loopbackIPv4, .loopbackIPv6]]
            $0.lookUps = 1
        }
        let waiting = Recorder()
        let exchange = harness.open(waiting, port: hole.port, host: "hole.test")
        let recorder = Recorder()
        _ = harness.open(recorder, port: origin.port, host: "two.test")
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.isComplete && !waiting.hasEnded)
        exchange.cancel()
    }

    @Test("The transport may be closed from the callback that reports a failed connection")
    func closedWithinFailure() throws {
        let port = LoopbackAddress.unusedPort
        let harness = try TransportHarness { $0.resolve = ["two.test": [.loopbackIPv6, .loopbackIPv4]] }
        let transport = harness.transport
        let recorders = (0..<3).map { _ in Recorder() }
        for recorder in recorders {
            recorder.onEnd = { _ in transport.close() }
            _ = harness.open(recorder, port: port, host: "two.test")
        }
        harness.run { recorders.allSatisfy(\.hasEnded) }
        settle(harness)
        #expect(recorders.count { $0.error == .connectionRefused } == 1)
        #expect(recorders.count { $0.error == .transportClosed } == 2)
        #expect(harness.budgets.statistics == (0, 0))
    }

    @Test("Cancelling while connecting closes the connection and calls no delegate")
    func whileConnecting() throws {
        let hole = BlackHole()
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(recorder, port: hole.port)
        settle(harness)
        exchange.cancel()
        settle(harness)
        #expect(!recorder.hasEnded)
        #expect(harness.budgets.statistics == (0, 0))
        #expect(harness.loop.registrationCount == 0)
    }

    @Test("After a cancellation within the head or body callback, no further callback is made", arguments: [true, false])
    func withinCallbacks(atHead: Bool) throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond(body: "hello") }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        if atHead { recorder.onHead = { $0.cancel() } } else { recorder.onBody = { $0.cancel() } }
        _ = harness.open(recorder, port: origin.port)
        harness.run { recorder.status != nil && (atHead || !recorder.body.isEmpty) }
        settle(harness)
        #expect(!recorder.hasEnded)
        #expect(recorder.body.isEmpty == atHead)
        #expect(harness.transport.statistics.connections == 0)
        #expect(LoopbackAddress.connectionCount(to: origin.port) == 0)
    }

    @Test("A handle whose exchange has ended does not affect the exchange that reuses its object")
    func staleHandle() throws {
        let gate = Gate()
        let origin = ScriptedOrigin { connection in
            while let head = connection.readHead() {
                if head.hasPrefix("GET /slow") { gate.wait() }
                connection.respond(body: "hello")
            }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let first = Recorder()
        let stale = harness.open(first, port: origin.port)
        harness.run { first.hasEnded }
        let second = Recorder()
        let exchange = harness.open(second, port: origin.port, path: "/slow")
        #expect(stale.exchange === exchange.exchange, "the object is used again")
        stale.cancel()
        stale.pauseReading()
        #expect(!stale.isActive)
        #expect(exchange.isActive)
        gate.open()
        harness.run { second.hasEnded }
        #expect(second.isComplete)
    }

    @Test("An exchange may be opened from another one's end callback, and reuses its connection")
    func openFromEnd() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond(body: "hello") }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let first = Recorder()
        let second = Recorder()
        first.onEnd = { _ in _ = harness.open(second, port: origin.port) }
        _ = harness.open(first, port: origin.port)
        harness.run { second.hasEnded }
        #expect(first.isComplete)
        #expect(second.isComplete)
        #expect(second.metrics.isConnectionReused)
        #expect(origin.connectionCount == 1)
    }

    @Test("Closing the transport fails exchanges and tunnels in every state and releases everything")
    func closing() throws {
        let origin = ScriptedOrigin { connection in
            guard let head = connection.readHead() else { return }
            if head.hasPrefix("GET /idle") { connection.respond() }
            _ = connection.readToEnd()
        }
        let hole = BlackHole()
        defer { origin.stop() }
        let harness = try TransportHarness(budgets: UpstreamBudgets(connectionsPerOrigin: 2))
        let idle = Recorder()
        _ = harness.open(idle, port: origin.port, path: "/idle")
        harness.run { idle.hasEnded }
        let recorders = (0..<6).map { _ in Recorder() }
        for recorder in recorders.prefix(3) { _ = harness.open(recorder, port: origin.port) }
        _ = harness.open(recorders[3], port: hole.port)
        _ = harness.open(recorders[4], port: 80, host: "no-such-name.invalid")
        _ = harness.transport.openTunnel(
            to: Origin(scheme: .http, host: "127.0.0.1", port: hole.port), via: "", delegate: recorders[5])
        settle(harness)
        harness.transport.close()
        #expect(recorders.filter { $0.error == .transportClosed }.count >= 5)
        let allHaveEnded = recorders.allSatisfy { $0.hasEnded }
        #expect(allHaveEnded)
        #expect(harness.budgets.statistics == (0, 0))
        #expect(harness.loop.registrationCount == 0)
        #expect(harness.loop.timerCount == 0)
        let late = harness.fetch(port: origin.port)
        #expect(late.error == .transportClosed)
    }

    @Test("Exchanges, refusals, cancellations and tunnels leak no file descriptors")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            // The first round opens descriptors that the process keeps, for example the resolver's sockets.
            try openAndLetGo()
            let before = descriptorCount()
            for _ in 0..<10 { try openAndLetGo() }
            // A resolver whose exchange was cancelled closes its two descriptors when it is done. The count is lower than
            // before if a resolver of the first round was still working then.
            try eventually { descriptorCount() <= before }
        }
    }
}

private func descriptorCount() -> Int { (0..<Int32(1024)).count { fcntl($0, F_GETFD) >= 0 } }

/// Runs one of each operation that opens descriptors.
private func openAndLetGo() throws {
    let origin = ScriptedOrigin { connection in
        while connection.readHead() != nil { connection.respond(body: "hello") }
    }
    let hole = BlackHole()
    let harness = try TransportHarness()
    #expect(harness.fetch(port: origin.port).isComplete)
    #expect(harness.fetch(port: LoopbackAddress.unusedPort).error != nil)
    #expect(harness.fetch(port: 80, host: "169.254.1.1").error != nil)
    #expect(harness.fetch(port: 80, host: "no-such-name.invalid").error != nil)
    let cancelled = [
        harness.open(Recorder(), port: hole.port), harness.open(Recorder(), port: 80, host: "no-such-name.invalid"),
        harness.open(Recorder(), port: origin.port),
    ]
    harness.loop.turn(waitingAtMost: 1)
    for exchange in cancelled { exchange.cancel() }
    let tunnel = harness.openTunnel(to: "127.0.0.1", port: origin.port)
    if let descriptor = tunnel.tunnelDescriptor { close(descriptor) }
    harness.transport.close()
    origin.stop()
}

@Suite("Transport: tunnels (RFC 9110 §9.3.6)")
struct TunnelTests {
    @Test("A tunnel is a connected, non-blocking descriptor that belongs to the caller")
    func connects() throws {
        let origin = ScriptedOrigin { connection in
            connection.send(bytes: connection.readToEnd())
        }
        defer { origin.stop() }
        let harness = try TransportHarness { $0.resolve = ["name.test": [.loopbackIPv4]] }
        let recorder = harness.openTunnel(to: "name.test", port: origin.port)
        let descriptor = try #require(recorder.tunnelDescriptor)
        #expect(recorder.tunnelAddress == .loopbackIPv4)
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        harness.transport.close()
        #expect(send(descriptor, [1, 2, 3] as [UInt8], 3, 0) == 3)
        shutdown(descriptor, Int32(SHUT_WR))
        var buffer = [UInt8](repeating: 0, count: 8)
        var count = -1
        harness.run {
            count = recv(descriptor, &buffer, 8, 0)
            return count >= 0
        }
        #expect(count == 3)
        close(descriptor)
    }

    @Test("After a tunnel is cancelled, its delegate is not called")
    func cancelled() throws {
        let hole = BlackHole()
        let harness = try TransportHarness()
        let recorder = Recorder()
        let tunnel = harness.transport.openTunnel(
            to: Origin(scheme: .http, host: "127.0.0.1", port: hole.port), via: "", delegate: recorder)
        for _ in 0..<3 { harness.loop.turn(waitingAtMost: 1) }
        tunnel.cancel()
        for _ in 0..<3 { harness.loop.turn(waitingAtMost: 1) }
        #expect(!recorder.hasEnded)
        #expect(harness.loop.registrationCount == 0)
    }
}
