import Dispatch
import EventLoop
import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: timeouts of each phase (T36)")
struct TimeoutTests {
    private func timeouts(_ change: (inout UpstreamTimeouts) -> Void) -> UpstreamTimeouts {
        var timeouts = UpstreamTimeouts()
        change(&timeouts)
        return timeouts
    }

    /// An origin that sends these bytes after a request head arrives, and then nothing until the peer closes.
    private func silentOrigin(after bytes: String = "") -> ScriptedOrigin {
        ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send(bytes)
            _ = connection.readToEnd()
        }
    }

    @Test("A head that arrives byte by byte must be complete within the first-byte timeout")
    func drippingHead() throws {
        let turn = DispatchSemaphore(value: 0)
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nX-A: ")
            while connection.send("x") { turn.wait() }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(
            recorder, port: origin.port,
            timeouts: timeouts {
                $0.firstByte = 500_000
                $0.idle = 300_000
            })
        // After each byte the clock moves by less than the idle limit, and the origin sends the next byte.
        var received: UInt64 = 0
        let isOver = harness.run {
            if recorder.hasEnded { return true }
            if exchange.metrics.bytesReceived > received {
                received = exchange.metrics.bytesReceived
                harness.loop.advanceClock(milliseconds: 100_000)
                turn.signal()
            }
            return false
        }
        #expect(isOver)
        // The origin finds that the connection is closed.
        for _ in 0..<8 { turn.signal() }
        #expect(recorder.error == .timedOut(.firstByte))
    }

    @Test("Connect: the request fails in time if the address does not respond")
    func connect() throws {
        let hole = BlackHole()
        let harness = try TransportHarness()
        let recorder = Recorder()
        _ = harness.open(recorder, port: hole.port, timeouts: timeouts { $0.connect = 50 })
        harness.run { recorder.hasEnded }
        #expect(recorder.error == .timedOut(.connect))
        #expect(harness.budgets.statistics.connections == 0)
        #expect(LoopbackAddress.connectionCount(to: hole.port) <= 3)
    }

    @Test("First byte: the request fails in time if the origin reads it and sends nothing")
    func firstByte() throws {
        let origin = silentOrigin()
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        _ = harness.open(recorder, port: origin.port, timeouts: timeouts { $0.firstByte = 30_000 })
        harness.run { !origin.requestHeads.isEmpty }
        harness.loop.advanceClock(milliseconds: 30_001)
        harness.run { recorder.hasEnded }
        #expect(recorder.error == .timedOut(.firstByte))
        #expect(harness.transport.statistics.connections == 0)
    }

    @Test(
        "Idle: the origin stops within a head or a body",
        arguments: [
            "HTTP/1.1 200 OK\r\nConte", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", "HTTP/1.1 102 Processing\r\n\r\n",
        ])
    func idle(bytes: String) throws {
        let origin = silentOrigin(after: bytes)
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(
            recorder, port: origin.port,
            timeouts: timeouts {
                $0.idle = 300_000
                $0.firstByte = 900_000
            })
        harness.run { exchange.metrics.bytesReceived == bytes.utf8.count }
        harness.loop.advanceClock(milliseconds: 200_000)
        for _ in 0..<3 { harness.loop.turn(waitingAtMost: 0) }
        #expect(recorder.error == nil)
        harness.loop.advanceClock(milliseconds: 100_001)
        harness.run { recorder.hasEnded }
        #expect(recorder.error == .timedOut(.idle))
    }

    @Test("Sending: the origin does not read the body")
    func sending() throws {
        let gate = Gate()
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            gate.wait()
        }
        defer {
            gate.open()
            origin.stop()
        }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let piece = [UInt8](repeating: 0x61, count: 1 << 20)
        let exchange = harness.open(
            recorder, port: origin.port, method: .post, body: .chunked, timeouts: timeouts { $0.idle = 30_000 })
        recorder.onReady = { while $0.sendBody(piece.span) {} }
        while exchange.sendBody(piece.span) {}
        harness.run { exchange.metrics.bytesSent > 0 }
        for _ in 0..<3 { harness.loop.turn(waitingAtMost: 1) }
        harness.loop.advanceClock(milliseconds: 30_001)
        harness.run { recorder.hasEnded }
        #expect(recorder.error == .timedOut(.sending))
    }

    @Test("Idle: the origin answers early and then stops, with the request body complete or not", arguments: [false, true])
    func idleAfterEarlyAnswer(endsBody: Bool) throws {
        let origin = silentOrigin(after: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(
            recorder, port: origin.port, method: .post, body: .chunked,
            timeouts: timeouts {
                $0.idle = 30_000
                $0.firstByte = 300_000
            })
        _ = exchange.sendBody([1].span)
        harness.run { !recorder.body.isEmpty }
        _ = exchange.sendBody([2].span)
        if endsBody { exchange.endBody(trailers: Fields()) }
        harness.loop.advanceClock(milliseconds: 30_001)
        harness.run { recorder.hasEnded }
        #expect(recorder.error == .timedOut(.idle))
    }

    @Test("Idle: after an interim response a client may be slow to send its content")
    func idleAfterInterimResponse() throws {
        let origin = silentOrigin(after: "HTTP/1.1 100 Continue\r\n\r\n")
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(
            recorder, port: origin.port, method: .post, body: .chunked, timeouts: timeouts { $0.idle = 30_000 })
        _ = exchange.sendBody([1].span)
        harness.run { !recorder.informational.isEmpty }
        _ = exchange.sendBody([2].span)
        harness.loop.advanceClock(milliseconds: 30_001)
        for _ in 0..<3 { harness.loop.turn(waitingAtMost: 0) }
        #expect(!recorder.hasEnded)
    }

    @Test("Total: the origin never stops sending")
    func total() throws {
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while connection.send("1\r\nx\r\n") {}
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        _ = harness.open(recorder, port: origin.port, timeouts: timeouts { $0.total = 60_000 })
        harness.run { recorder.body.count > 1000 }
        harness.loop.advanceClock(milliseconds: 60_001)
        harness.run { recorder.hasEnded }
        #expect(recorder.error == .timedOut(.total))
        #expect(recorder.status == 200)
    }

    @Test("A client that is slow to send, or to read the response, causes no timeout of the origin")
    func othersTime() throws {
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            _ = connection.read(count: 5)
            connection.respond(body: String(repeating: "x", count: 300_000))
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(
            recorder, port: origin.port, method: .post, body: .length(5),
            timeouts: timeouts {
                $0.idle = 40_000
                $0.firstByte = 40_000
            })
        harness.run { !origin.requestHeads.isEmpty }
        harness.loop.advanceClock(milliseconds: 100_000)
        for _ in 0..<3 { harness.loop.turn(waitingAtMost: 0) }
        #expect(recorder.error == nil)
        recorder.onHead = { $0.pauseReading() }
        _ = exchange.sendBody([1, 2, 3, 4, 5].span)
        harness.run { recorder.status != nil || recorder.hasEnded }
        harness.loop.advanceClock(milliseconds: 100_000)
        for _ in 0..<3 { harness.loop.turn(waitingAtMost: 0) }
        #expect(recorder.error == nil)
        #expect(!recorder.hasEnded)
        exchange.resumeReading()
        harness.run { recorder.hasEnded }
        #expect(recorder.isComplete)
        #expect(recorder.body.count == 300_000)
    }
}
