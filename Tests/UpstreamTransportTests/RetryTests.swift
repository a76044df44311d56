import Glibc
import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: pooled connections that were closed (RFC 9110 §9.2.2, RFC 9112 §9.3.1)")
struct RetryTests {
    /// Answers the first request on each connection, and closes it when the second arrives.
    private static func mortalOrigin(after: String = "") -> ScriptedOrigin {
        ScriptedOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.respond(body: "\(connection.number)")
            guard connection.readHead() != nil else { return }
            connection.send(after)
        }
    }

    @Test(
        "An idempotent request is sent once more on a new connection if the reused one closes",
        arguments: [Method.get, .head, .put])
    func retries(method: Method) throws {
        let origin = Self.mortalOrigin()
        defer { origin.stop() }
        let harness = try TransportHarness()
        #expect(harness.fetch(port: origin.port).isComplete)
        let recorder = harness.fetch(port: origin.port, method: method)
        #expect(recorder.isComplete || method == .head)
        #expect(recorder.metrics.isRetried)
        #expect(origin.requestHeads.count == 3)
        #expect(origin.connectionCount == 2)
    }

    @Test("A request with `Content-Length: 0` is sent once more, too")
    func retriesWithoutContent() throws {
        let origin = Self.mortalOrigin()
        defer { origin.stop() }
        let harness = try TransportHarness()
        #expect(harness.fetch(port: origin.port).isComplete)
        let recorder = Recorder()
        _ = harness.open(recorder, port: origin.port, method: .delete, fields: "Content-Length: 0\r\n", body: .length(0))
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.isComplete && recorder.metrics.isRetried)
    }

    @Test("An unsolicited response is discarded, even if it is noticed only at the next request")
    func surplusResponse() throws {
        let isDone = Gate()
        let isSent = Gate()
        let origin = ScriptedOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.respond(body: "\(connection.number)")
            guard connection.number == 1 else { return }
            isDone.wait()
            connection.respond(body: "surplus")
            isSent.open()
            _ = connection.readToEnd()
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        #expect(harness.fetch(port: origin.port).text == "1")
        // The loop does not turn before the next request is opened.
        isDone.open()
        isSent.wait()
        try Self.awaitInput(from: origin.port)
        let recorder = harness.fetch(port: origin.port)
        #expect(recorder.text == "2" && !recorder.metrics.isConnectionReused)
        #expect(harness.transport.statistics.connections <= 1)
    }

    /// Waits until a descriptor that is connected to the port has something to read.
    private static func awaitInput(from port: UInt16) throws {
        try eventually {
            (0..<Int32(4096)).contains { descriptor in
                guard LoopbackAddress.peerPort(of: descriptor) == port else { return false }
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                return poll(&entry, 1, 0) == 1
            }
        }
    }

    @Test("A POST is never sent twice")
    func neverPost() throws {
        let origin = Self.mortalOrigin()
        defer { origin.stop() }
        let harness = try TransportHarness()
        #expect(harness.fetch(port: origin.port).isComplete)
        let recorder = harness.fetch(port: origin.port, method: .post)
        #expect(recorder.error == .closedBeforeResponse)
        #expect(origin.requestHeads.count == 2)
    }

    @Test("A request with a body, or one marked as not retryable, is not sent twice")
    func notWithBody() throws {
        let origin = Self.mortalOrigin()
        defer { origin.stop() }
        let harness = try TransportHarness()
        #expect(harness.fetch(port: origin.port).isComplete)
        let withBody = Recorder()
        let exchange = harness.open(withBody, port: origin.port, method: .put, body: .length(2))
        _ = exchange.sendBody([1, 2].span)
        harness.run { withBody.hasEnded }
        #expect(withBody.error == .closedBeforeResponse)
        #expect(harness.fetch(port: origin.port).isComplete)
        let forbidden = Recorder()
        _ = harness.open(forbidden, port: origin.port, isRetryable: false)
        harness.run { forbidden.hasEnded }
        #expect(forbidden.error == .closedBeforeResponse)
        #expect(origin.requestHeads.count == 4)
    }

    @Test("Nothing is retried after the first byte of the response")
    func notAfterFirstByte() throws {
        let origin = Self.mortalOrigin(after: "H")
        defer { origin.stop() }
        let harness = try TransportHarness()
        #expect(harness.fetch(port: origin.port).isComplete)
        #expect(harness.fetch(port: origin.port).error == .closedInHead)
        #expect(origin.requestHeads.count == 2)
    }

    @Test("A request is retried once only: if the new connection closes as well, the exchange fails")
    func once() throws {
        let origin = ScriptedOrigin { connection in
            guard connection.readHead() != nil else { return }
            if connection.number > 1 { return }
            connection.respond()
            _ = connection.readHead()
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        #expect(harness.fetch(port: origin.port).isComplete)
        let recorder = harness.fetch(port: origin.port)
        #expect(recorder.error == .closedBeforeResponse)
        #expect(recorder.metrics.isRetried)
        #expect(origin.requestHeads.count == 3)
    }

    @Test(
        "An idle connection leaves the pool if the origin closes it or sends anything unsolicited",
        arguments: ["", "HTTP/1.1 200 OK\r\n\r\n"])
    func idleConnectionDies(last: String) throws {
        let harness = try TransportHarness()
        let gate = Gate()
        let talker = ScriptedOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.respond()
            gate.wait()
            connection.send(last)
            if !last.isEmpty { _ = connection.readToEnd() }
        }
        defer { talker.stop() }
        #expect(harness.fetch(port: talker.port).isComplete)
        #expect(harness.transport.statistics.idle == 1)
        gate.open()
        #expect(harness.run { harness.transport.statistics.connections == 0 })
        #expect(harness.transport.statistics.idle == 0)
    }

    @Test("An idle connection is closed after its time, and earlier if there are more than the limit")
    func idleLimits() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let short = try TransportHarness { $0.idleConnectionMilliseconds = 600_000 }
        #expect(short.fetch(port: origin.port).isComplete)
        #expect(short.transport.statistics.idle == 1)
        short.loop.advanceClock(milliseconds: 500_000)
        short.loop.turn(waitingAtMost: 0)
        #expect(short.transport.statistics.idle == 1)
        short.loop.advanceClock(milliseconds: 100_001)
        #expect(short.run { short.transport.statistics.idle == 0 })
        #expect(short.budgets.statistics.connections == 0)

        let few = try TransportHarness {
            $0.idleConnections = 2
            $0.idleConnectionsPerOrigin = 3
        }
        let recorders = (0..<4).map { _ in Recorder() }
        for recorder in recorders { _ = few.open(recorder, port: origin.port) }
        #expect(few.run { recorders.allSatisfy(\.isComplete) })
        #expect(few.transport.statistics.idle == 2)
        #expect(few.budgets.statistics.connections == 2)
    }
}
