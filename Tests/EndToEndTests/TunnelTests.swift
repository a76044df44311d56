import Testing
import TestSupport

@Suite("Tunnels (RFC 9110 §9.3.6)")
struct TunnelTests {
    private static let anyPort = "tunnel: {ports: any}"

    private func connect(_ stage: Stage, _ client: RawClient, host: String = "127.0.0.1", early: String = "") throws
        -> ReceivedResponse
    {
        let authority = "\(host):\(stage.origin.port)"
        client.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n\(early)")
        return try client.readResponse(to: "CONNECT")
    }

    @Test("Bytes after a CONNECT that is refused or fails are not read as a request (T34)", arguments: [25, 443])
    func discardsEarlyBytes(port: Int) throws {
        let stage = try Stage("resolve: {gone.test: 127.0.0.9}") { _, connection in connection.respond(body: "reached") }
        let client = try stage.client()
        client.send("CONNECT gone.test:\(port) HTTP/1.1\r\nHost: gone.test\r\n\r\n\(stage.head("GET", "/"))")
        let response = try client.readResponse()
        #expect(response.status == (port == 25 ? 403 : 502))
        #expect(response["Connection"] == "close")
        #expect(try client.readToEnd().isEmpty)
        #expect(stage.origin.requestHeads.isEmpty)
    }

    @Test("CONNECT opens a tunnel without a Host field (RFC 9112 §3.2)", arguments: ["1.1", "1.0"])
    func connectsWithoutHost(version: String) throws {
        let stage = try Stage(Self.anyPort) { connection in connection.send(bytes: connection.readToEnd().reversed()) }
        let client = try stage.client()
        client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/\(version)\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        client.send("abc")
        client.endSending()
        #expect(try client.readToEnd() == Array("cba".utf8))
    }

    @Test("Bytes pass both ways, and each side ends separately", arguments: [1, 4])
    func passesBothWays(loops: Int) throws {
        let stage = try Stage(Self.anyPort, loops: loops) { connection in
            let request = connection.readToEnd()
            connection.send(bytes: request.reversed())
        }
        let client = try stage.client()
        let response = try connect(stage, client)
        #expect(response.status == 200)
        #expect(response["Content-Length"] == nil && response["Transfer-Encoding"] == nil)
        client.send("abc")
        client.endSending()
        #expect(try client.readToEnd() == Array("cba".utf8))
    }

    @Test("The origin may end its side first, and still receives data")
    func originEndsFirst() throws {
        let received = Gate()
        let stage = try Stage(Self.anyPort) { connection in
            connection.send("bye")
            connection.shutDownSending()
            if connection.readToEnd() == Array("more".utf8) { received.open() }
        }
        let client = try stage.client()
        #expect(try connect(stage, client).status == 200)
        #expect(try client.readToEnd() == Array("bye".utf8))
        client.send("more")
        client.endSending()
        #expect(received.wait())
    }

    @Test("T34 bytes that arrive before the 200 reach the origin once, after it")
    func passesEarlyBytes() throws {
        let stage = try Stage(Self.anyPort) { connection in
            guard let bytes = connection.read(count: 5) else { return }
            connection.send(bytes: bytes)
        }
        let client = try stage.client()
        #expect(try connect(stage, client, early: "hello").status == 200)
        #expect(try client.readToEnd() == Array("hello".utf8))
    }

    @Test("10 MiB pass both ways at once", arguments: [1, 4])
    func passesMuch(loops: Int) throws {
        let body = PatternedBody(length: 10 << 20)
        let stage = try Stage(Self.anyPort, loops: loops) { connection in
            // Echoes the bytes as they arrive.
            var left = body.length
            while left > 0, let bytes = connection.read(count: min(left, 65_536)) {
                left -= bytes.count
                if !connection.send(bytes: bytes) { return }
            }
        }
        let client = try stage.client()
        #expect(try connect(stage, client).status == 200)
        let sender = Sender(client.descriptor, body)
        #expect(try client.read(body, count: body.length) == body.length)
        sender.wait()
        #expect(client.isClosedByPeer())
    }

    @Test("Data that an origin sent before it closed reaches a client that reads late", arguments: [1000, 100_000, 8 << 20])
    func keepsWhatCameBeforeTheEnd(length: Int) throws {
        let body = PatternedBody(length: length)
        let hasEnded = Gate()
        let stage = try Stage(Self.anyPort) { connection in
            connection.send(body)
            connection.shutDownSending()
            hasEnded.open()
            _ = connection.readToEnd()
        }
        let client = try stage.client()
        #expect(try connect(stage, client).status == 200)
        // The longest body is larger than all buffers, so its sender cannot end before the client reads.
        if length < 1 << 20 { #expect(hasEnded.wait()) }
        #expect(try client.read(body, count: length) == length)
        client.endSending()
        #expect(client.isClosedByPeer())
    }

    @Test("A pipelined CONNECT opens its tunnel after the response before it")
    func followsAnotherRequest() throws {
        let stage = try Stage(Self.anyPort) { connection in
            guard let head = connection.readHead() else { return }
            if head.hasPrefix("GET") {
                connection.respond(body: "first")
            } else {
                connection.send("echo")
                _ = connection.readToEnd()
            }
        }
        let client = try stage.client()
        let authority = "127.0.0.1:\(stage.origin.port)"
        client.send("\(stage.head("GET", "/"))CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\nhello\r\n\r\n")
        #expect(try client.readResponse().text == "first")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        #expect(try client.read(count: 4) == Array("echo".utf8))
    }

    @Test("T34 tunnels to ports other than 443 and 80 are refused by default", arguments: [22, 25, 8443, 3306])
    func refusesPorts(port: Int) throws {
        let proxy = try TestProxy("resolve: {a.test: 127.0.0.1}")
        let client = try RawClient(port: proxy.port, owner: proxy)
        client.send("CONNECT a.test:\(port) HTTP/1.1\r\nHost: a.test:\(port)\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 403 && response.code == "port_not_allowed")
    }

    @Test("T34 tunnel.ports permits a list of ports, or any")
    func allowsPorts() throws {
        let origin = ScriptedOrigin { connection in _ = connection.readToEnd() }
        defer { origin.stop() }
        for (ports, status) in [("[\(origin.port)]", 200), ("any", 200), ("[443]", 403)] {
            let proxy = try TestProxy("tunnel: {ports: \(ports)}")
            let client = try RawClient(port: proxy.port, owner: proxy)
            client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse(to: "CONNECT").status == status)
        }
    }

    @Test("T34 rules apply to tunnels by host")
    func followsRules() throws {
        let stage = try Stage(
            """
            tunnel: {ports: any}
            resolve: {good.test: 127.0.0.1, bad.test: 127.0.0.1, sub.bad.test: 127.0.0.1}
            rules: [{name: no-bad, match: {host: ['bad.test', '*.bad.test']}, deny: {reason: not here}}]
            """
        ) { connection in _ = connection.readToEnd() }
        for host in ["bad.test", "BAD.test", "bad.test.", "sub.bad.test"] {
            let client = try stage.client()
            let response = try connect(stage, client, host: host)
            #expect(response.status == 403 && response.code == "denied_by_rule", "\(host)")
        }
        let client = try stage.client()
        #expect(try connect(stage, client, host: "good.test").status == 200)
        // When the origin has answered the end of the tunnel with its own, it has counted the connection.
        client.endSending()
        _ = try client.readToEnd()
        #expect(stage.origin.connectionCount == 1)
    }

    @Test("A tunnel that fails gets an error with its reason, and the connection can be used again")
    func tellsFailure() throws {
        let closed = LoopbackAddress.unusedPort
        let stage = try Stage(Self.anyPort) { request, connection in connection.respond(body: "next") }
        let client = try stage.client()
        client.send("CONNECT 127.0.0.1:\(closed) HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 502 && response.code == "connection_refused")
        if response["Connection"] != "close" {
            client.send(stage.head("GET", "/"))
            #expect(try client.readResponse().text == "next")
        }
    }

    @Test("A tunnel whose client resets is closed at the origin")
    func closesAfterReset() throws {
        let ended = Gate()
        let stage = try Stage(Self.anyPort) { connection in
            _ = connection.readToEnd()
            ended.open()
        }
        let client = try stage.client()
        #expect(try connect(stage, client).status == 200)
        client.send("x")
        client.reset()
        #expect(ended.wait())
    }

    @Test("A tunnel without traffic is closed after the idle timeout")
    func closesIdle() throws {
        let stage = try Stage(Self.anyPort, change: { $0.timeouts.tunnelIdle = 200 }) { connection in _ = connection.readToEnd() }
        let client = try stage.client()
        #expect(try connect(stage, client).status == 200)
        #expect(client.isClosedByPeer())
    }
}
