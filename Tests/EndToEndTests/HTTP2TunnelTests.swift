import Foundation
import HTTP2Wire
import ProxyServer
import ServerTrust
import TestSupport
import Testing

@Suite("HTTP/2 inside TLS, and tunnels in streams")
struct HTTP2TunnelTests {
    private func stage(
        _ yaml: String = "",
        answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = InterceptingStage.answersPath
    ) throws -> InterceptingStage {
        try InterceptingStage(
            yaml, connect: { $0.interceptsHTTP2 = true }, change: { $0.offersHTTP2 = true }, answer: answer)
    }

    private func intercepted(_ stage: InterceptingStage, offering protocols: [String] = ["h2", "http/1.1"]) throws -> HTTP2Client
    {
        let client = try stage.secure { $0.protocols = protocols }
        #expect(client.agreed?.protocolName == "h2")
        return try HTTP2Client(client)
    }

    @Test(
        "A client that offers HTTP/2 to an intercepted host gets it, and its requests are stored",
        arguments: [["h2", "http/1.1"], ["h2"]])
    func intercepts(protocols: [String]) throws {
        let stage = try stage()
        let client = try intercepted(stage, offering: protocols)
        let url = "https://one.test:\(stage.origin.port)"
        #expect(try client.fetch("\(url)/a").text == "answer to GET /a")
        let second = try client.fetch("\(url)/a")
        #expect(second.text == "answer to GET /a" && second.value("cache-status")?.hasPrefix("Larder; hit") == true)
        #expect(try stage.fetch("/a").text == "answer to GET /a")
        #expect(stage.origin.requestHeads.count == 1)
    }

    @Test("With `http2: off` the same client gets HTTP/1.1")
    func staysWithHTTP1() throws {
        let stage = try InterceptingStage(
            "tls: {connect: {http2: off}}", connect: { $0.interceptsHTTP2 = false }, change: { $0.offersHTTP2 = false })
        let client = try stage.secure { $0.protocols = ["h2", "http/1.1"] }
        #expect(client.agreed?.protocolName == "http/1.1")
    }

    @Test("A request for another authority than the tunnel's gets 421")
    func rejectsOtherAuthorities() throws {
        let stage = try stage()
        let client = try intercepted(stage)
        for uri in ["https://two.test:\(stage.origin.port)/", "https://one.test/", "http://one.test:\(stage.origin.port)/"] {
            #expect(try client.fetch(uri).status == 421, "\(uri)")
        }
        #expect(try client.fetch("https://one.test:\(stage.origin.port)/a").status == 200)
        #expect(stage.origin.requestHeads.count == 1)
    }

    @Test("HTTP/2 without TLS inside a tunnel is served under the rules")
    func servesPlainTunnels() throws {
        let yaml = "tunnel: {ports: any}\nrules: [{name: closed, match: {path: /a}, deny: {}}]"
        let stage = try Stage(yaml, change: { $0.offersHTTP2 = true }) { _, connection in connection.respond(body: "a") }
        let raw = try stage.client()
        // Only port 80 is entered for plain HTTP.
        raw.send("CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n")
        #expect(try raw.readResponse(to: "CONNECT").status == 200)
        let client = try HTTP2Client(raw)
        #expect(try client.fetch("http://127.0.0.1/a").text.contains("\"code\":\"denied_by_rule\""))
        #expect(try client.fetch("http://127.0.0.1:81/a").status == 421)
    }

    @Test("CONNECT in a stream opens a tunnel, whose ends are passed on")
    func opensTunnels() throws {
        let stage = try Stage("tunnel: {ports: any}", change: { $0.offersHTTP2 = true }) { connection in
            while let octets = connection.readSome() { connection.send(bytes: octets.reversed()) }
            connection.endSending()
        }
        let client = try HTTP2Client(stage.client())
        let stream = try client.begin("CONNECT", "127.0.0.1:\(stage.origin.port)", hasContent: true)
        #expect(try client.readHead(on: stream).status == 200)
        try client.send(Array("abc".utf8), on: stream)
        #expect(try client.read(3, on: stream) == "cba")
        // Other streams go on meanwhile.
        #expect(try client.fetch("http://127.0.0.1:\(stage.proxy.port)/proxy.pac").status == 200)
        try client.send([], on: stream, end: true)
        #expect(try client.readResponse(on: stream).text == "cba")
    }

    @Test("Tunnels in streams that have ended, or were denied, leave no descriptor behind")
    func closesTunnels() throws {
        let stage = try Stage("tunnel: {ports: any}\negress: {addresses: {deny: [127.0.0.9]}}") { connection in
            _ = connection.readToEnd()
            connection.endSending()
        }
        func openCount() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        let client = try HTTP2Client(stage.client())
        #expect(try client.fetch("http://127.0.0.1:\(stage.proxy.port)/proxy.pac").status == 200)
        let before = try openCount()
        for number in 0..<20 {
            let host = number % 2 == 0 ? "127.0.0.1" : "127.0.0.9"
            let response = try client.fetch("\(host):\(stage.origin.port)", method: "CONNECT", content: [])
            #expect(response.status == (number % 2 == 0 ? 200 : 403))
        }
        try eventually { try openCount() <= before }
    }

    @Test("10 MiB pass through a tunnel in a stream")
    func passesMuch() throws {
        let stage = try Stage("tunnel: {ports: any}") { connection in
            connection.send(PatternedBody(length: 10 << 20))
            connection.endSending()
        }
        let client = try HTTP2Client(stage.client())
        let stream = try client.begin("CONNECT", "127.0.0.1:\(stage.origin.port)", hasContent: true)
        let response = try client.readResponse(on: stream)
        #expect(response.body == PatternedBody(length: 10 << 20).bytes(0..<10 << 20))
    }

    @Test("A tunnel that is denied or fails gets the response that HTTP/1.1 gets")
    func deniesTunnels() throws {
        let stage = try Stage("tunnel: {ports: [443]}") { _, connection in connection.respond() }
        let client = try HTTP2Client(stage.client())
        let denied = try client.fetch("127.0.0.1:\(stage.origin.port)", method: "CONNECT", content: [])
        #expect(denied.status == 403 && denied.text.contains("\"code\":\"port_not_allowed\""), "\(denied.text)")
        #expect(try client.fetch("http://127.0.0.1:\(stage.proxy.port)/proxy.pac").status == 200)
    }

    @Test("A tunnel in a stream is intercepted as any other")
    func interceptsInStreams() throws {
        let stage = try stage()
        let client = try HTTP2Client(RawClient(port: stage.proxy.port, owner: stage))
        let stream = try client.begin("CONNECT", "one.test:\(stage.origin.port)", hasContent: true)
        #expect(try client.readHead(on: stream).status == 200)
        try client.send(TLSClient.hello(to: "one.test"), on: stream)
        // A ServerHello of Larder.
        #expect(try client.read(1, on: stream).utf8.first == 22)
        #expect(stage.origin.requestHeads.isEmpty)
    }

    @Test("A WebSocket by extended CONNECT reaches an origin with HTTP/1.1 (RFC 8441)")
    func opensWebSockets() throws {
        let stage = try Stage { request, connection in
            connection.send(SwitchingStage.grant(request))
            while let octets = connection.readSome() { connection.send(bytes: octets.reversed()) }
            return false
        }
        let client = try HTTP2Client(stage.client())
        while !client.session.peerPermitsExtendedConnect { try client.receive() }
        let stream = try client.begin(
            "CONNECT", stage.url("/chat"), [("sec-websocket-version", "13")], extendedConnect: "websocket", hasContent: true)
        let head = try client.readHead(on: stream)
        #expect(head.status == 200 && head.value("sec-websocket-accept") == nil && head.value("upgrade") == nil, "\(head)")
        try client.send(Array("abc".utf8), on: stream)
        #expect(try client.read(3, on: stream) == "cba")
        let request = OriginRequest(head: try #require(stage.origin.requestHeads.first))
        #expect(request.method == "GET" && request["Upgrade"] == "websocket" && request.values("Sec-WebSocket-Key").count == 1)
    }

    @Test("A WebSocket gets 502 if the origin confirms another key, or none", arguments: ["AAAAAAAAAAAAAAAAAAAAAAAAAAA=", nil])
    func checksAccept(value: String?) throws {
        let stage = try Stage { _, connection in
            let accept = value.map { "Sec-WebSocket-Accept: \($0)\r\n" } ?? ""
            connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\(accept)\r\n")
            _ = connection.readToEnd()
            return false
        }
        let client = try HTTP2Client(stage.client())
        while !client.session.peerPermitsExtendedConnect { try client.receive() }
        let stream = try client.begin(
            "CONNECT", stage.url("/chat"), [("sec-websocket-version", "13")], extendedConnect: "websocket", hasContent: true)
        let response = try client.readResponse(on: stream)
        #expect(response.status == 502 && response.text.contains("\"code\":\"websocket_accept_mismatch\""), "\(response.text)")
        #expect(response.value("proxy-status")?.contains("http_upgrade_failed") == true)
        let other = try stage.fetch("/chat", fields: SwitchingStage.asks)
        #expect(other.status == 502 && other.code == "websocket_accept_mismatch")
        #expect(stage.origin.connectionCount == 2)
    }
}
