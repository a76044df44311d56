import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: exchanges")
struct TransportTests {
    @Test("A request is sent as given and its response is delivered; the second exchange reuses the connection")
    func reusesConnection() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond(body: "hello") }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let first = harness.fetch(port: origin.port, path: "/a?b")
        #expect(first.isComplete)
        #expect(first.status == 200)
        #expect(first.text == "hello")
        #expect(first.framing == .length(5))
        #expect(first.metrics.isConnectionReused == false)
        #expect(first.metrics.remoteAddress == .loopbackIPv4)
        #expect(harness.transport.statistics.idle == 1)
        let second = harness.fetch(port: origin.port)
        #expect(second.isComplete)
        #expect(second.metrics.isConnectionReused)
        #expect(origin.connectionCount == 1)
        #expect(origin.requestHeads.first == "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
    }

    @Test("A response that arrives one byte at a time gives the same result")
    func dribble() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil {
                connection.sendByteByByte(
                    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.sendByteByByte("5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n")
            }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        for _ in 0..<2 {
            let recorder = harness.fetch(port: origin.port)
            #expect(recorder.isComplete)
            #expect(recorder.informational == [103])
            #expect(recorder.text == "hello world")
            #expect(recorder.trailers?.count == 1)
        }
        #expect(origin.connectionCount == 1)
    }

    @Test("A response to HEAD has no body, and the connection is reused")
    func head() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n") }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        #expect(harness.fetch(port: origin.port, method: .head).isComplete)
        #expect(harness.fetch(port: origin.port, method: .head).isComplete)
        #expect(origin.connectionCount == 1)
    }

    @Test("A body without a length ends with the connection")
    func untilClose() throws {
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.0 200 OK\r\n\r\nall of it")
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = harness.fetch(port: origin.port)
        #expect(recorder.isComplete)
        #expect(recorder.framing == .untilClose)
        #expect(recorder.text == "all of it")
        #expect(harness.transport.statistics.connections == 0)
    }

    @Test(
        "A connection is kept only if both sides and the framing permit it",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x-a, Close\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokGET", false),
            ("HTTP/1.1 204 No Content\r\n\r\n", true),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", false),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", true),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\nabc", false),
        ])
    func persistence(response: String, isKept: Bool) throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.send(response) }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = harness.fetch(port: origin.port)
        #expect(recorder.isComplete)
        #expect(harness.transport.statistics.idle == (isKept ? 1 : 0))
    }
}
