import Testing
import TestSupport

@Suite("T36 Slow clients, with short timeouts")
struct SlowClientTests {
    private func stage(_ change: @escaping (inout Times) -> Void) throws -> Stage {
        var times = Times()
        change(&times)
        return try Stage(
            change: { settings in
                settings.timeouts.clientHead = times.head
                settings.timeouts.clientBody = times.body
                settings.timeouts.clientIdle = times.idle
                settings.timeouts.lingering = 200
            },
            answer: { request, connection in
                if request.method == "POST" { return connection.readBody(of: request) != nil && connection.respond() }
                if request.target == "/endless" {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
                    return connection.send(PatternedBody(length: 1_000_000_000)) > 0 && false
                }
                return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "served")
            })
    }

    struct Times {
        var head = 10_000
        var body = 10_000
        var idle = 10_000
    }

    @Test("T36 a head that arrives byte by byte gets 408 at its deadline, while other clients are served")
    func slowHead() throws {
        let stage = try stage { $0.head = 300 }
        let slow = try stage.client()
        slow.send("GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nX-S")
        #expect(try stage.fetch("/").text == "served")
        // More bytes do not extend the deadline.
        for _ in 0..<100 where !slow.hasInput(withinMilliseconds: 50) { slow.send("l") }
        let response = try slow.readResponse()
        #expect(response.status == 408 && response.code == "request_timeout")
        #expect(slow.isClosedByPeer())
    }

    @Test("T36 a connection without a request is closed")
    func silent() throws {
        let stage = try stage {
            $0.head = 2_000
            $0.idle = 2_000
        }
        let silent = try stage.client()
        #expect(silent.isClosedByPeer())
        let idle = try stage.client()
        idle.send(stage.head("GET", "/"))
        #expect(try idle.readResponse().text == "served")
        #expect(idle.isClosedByPeer())
    }

    @Test("T36 a body that stops arriving gets 408, and others are served")
    func slowBody() throws {
        let stage = try stage { $0.body = 200 }
        let slow = try stage.client()
        slow.send(stage.head("POST", "/", fields: "Content-Length: 100\r\n") + "begun")
        let response = try slow.readResponse()
        #expect(response.status == 408)
        #expect(slow.isClosedByPeer())
        #expect(try stage.fetch("/").text == "served")
    }

    @Test("T36 a client that never reads is disconnected, while others are served")
    func neverReads() throws {
        let stage = try stage { $0.body = 300 }
        let deaf = try stage.client(receiveBuffer: 4096)
        deaf.send(stage.head("GET", "/endless"))
        let asking = try stage.client()
        for _ in 0..<20 {
            asking.send(stage.head("GET", "/"))
            #expect(try asking.readResponse().text == "served")
        }
        // The client can read the bytes in the kernel's buffers. The message then ends early, and never looks complete.
        #expect(try deaf.readHead().status == 200)
        #expect(throws: ClientFault.self) { _ = try deaf.read(count: 1_000_000_000) }
    }

    @Test("T36 a client that pipelines requests and reads nothing does not fill memory with responses")
    func pipelinesWithoutReading() throws {
        let stage = try stage { $0.body = 500 }
        let deaf = try stage.client(receiveBuffer: 4096)
        _ = try stage.fetch("/")
        let one = stage.head("GET", "/")
        // More requests than all buffers hold: the proxy stops reading, so sending stops too.
        let many = Array(String(repeating: one, count: 100_000).utf8)
        #expect(deaf.send(bytes: many) < many.count)
    }

    @Test("T36 too many connections: 503 at the limit, and service again below it")
    func limitsConnections() throws {
        let stage = try Stage(change: { $0.connectionLimit = 2 }) { _, connection in connection.respond(body: "served") }
        let first = try stage.client()
        let second = try stage.client()
        for client in [first, second] {
            client.send(stage.head("GET", "/"))
            #expect(try client.readResponse().text == "served")
        }
        let third = try stage.client()
        let refused = try third.readResponse()
        #expect(refused.status == 503)
        first.close()
        // The proxy may not have seen yet that the connection was closed.
        try eventually {
            let client = try stage.client()
            client.send(stage.head("GET", "/"))
            return (try? client.readResponse())?.status == 200  // a refusal may end in a reset
        }
    }

    @Test("A 503 at the connection limit is a normal error response, and arrives although the request was not read")
    func answersAtTheDoor() throws {
        let stage = try Stage(change: { $0.connectionLimit = 1 }) { _, connection in connection.respond(body: "served") }
        let first = try stage.client()
        first.send(stage.head("GET", "/"))
        #expect(try first.readResponse().text == "served")
        for _ in 0..<50 {
            let refused = try stage.client()
            refused.send(stage.head("POST", "/", fields: "Content-Length: 100000\r\n") + String(repeating: "x", count: 100_000))
            let response = try refused.readResponse()
            #expect(response.status == 503 && response.code == "overloaded" && response["Retry-After"] != nil)
            #expect(response["Via"] != nil && response["Connection"] == "close" && response["Cache-Control"] == "no-store")
            #expect(refused.isClosedByPeer())
        }
        let lines = try stage.proxy.logLines()
        #expect(lines.count { $0.contains("\"error\":\"overloaded\"") } == 50)
    }

    @Test("Refusals at the connection limit are bounded: beyond that, connections wait and are served when there is room")
    func boundsAnswersAtTheDoor() throws {
        let stage = try Stage(
            change: {
                $0.connectionLimit = 1
                $0.refusalLimit = 2
                $0.timeouts.lingering = 60_000
            }
        ) { _, connection in connection.respond(body: "served") }
        let first = try stage.client()
        first.send(stage.head("GET", "/"))
        #expect(try first.readResponse().text == "served")
        let refused = try (0..<2).map { _ in try stage.client() }
        for client in refused { #expect(try client.readResponse().status == 503) }
        let waiting = try stage.client()
        waiting.send(stage.head("GET", "/"))
        #expect(!waiting.hasInput(withinMilliseconds: 100))
        first.close()
        #expect(try waiting.readResponse().text == "served")
        // An optimizer may close them earlier, and then a refused connection would make room.
        withExtendedLifetime(refused) {}
    }
}
