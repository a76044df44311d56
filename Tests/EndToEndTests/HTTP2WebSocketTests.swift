import EventLoop
import HTTP2Wire
import HTTPMessage
import ProxyServer
import TestSupport
import Testing

@Suite("WebSockets to origins with HTTP/2 (RFC 8441)")
struct HTTP2WebSocketTests {
    /// How the origin's side of the WebSockets has ended.
    private final class Ends: Sendable {
        let resets = Guarded<[HTTP2ErrorCode]>([])
        let isOver = Gate()
    }

    private let ends = Ends()

    private func stage(
        announces: Bool = true, handshake: @escaping @Sendable (HTTP2Origin, HTTP2StreamID) -> Void = Self.accept
    ) throws -> InterceptingStage {
        try InterceptingStage(
            connect: { $0.interceptsHTTP2 = true }, change: { $0.offersHTTP2 = true },
            http2: { [ends] _, connection in
                Self.serve(HTTP2Origin(permitsExtendedConnect: announces), connection, ends, handshake)
            },
            answer: { request, connection in
                guard request["Upgrade"] != nil else { return InterceptingStage.answersPath(request, connection) }
                connection.send(SwitchingStage.grant(request))
                while let octets = connection.readSome() { connection.send(bytes: octets.reversed()) }
                return false
            })
    }

    private static let accept: @Sendable (HTTP2Origin, HTTP2StreamID) -> Void = { server, id in
        server.begin(id, 200, [("sec-websocket-protocol", "chat")])
    }

    /// Reverses each message. `much` brings 1 MB and the end, and `reset` a reset; at the client's end the origin says how much it has got.
    private static func serve(
        _ server: HTTP2Origin, _ connection: borrowing OriginConnection, _ ends: Ends,
        _ handshake: (HTTP2Origin, HTTP2StreamID) -> Void
    ) {
        while let event = server.next(on: connection) {
            switch event {
            case .head(let id): if server.request(on: id)?.head.method == "CONNECT" { handshake(server, id) }
            case .content(let id, let bytes):
                switch String(decoding: bytes, as: UTF8.self) {
                case "much": server.send(ArraySlice(repeating: 7, count: 1 << 20), on: id)
                case "reset": server.session.reset(id, .cancel)
                default: if bytes.first != 1 { server.send(String(decoding: bytes.reversed(), as: UTF8.self), on: id) }
                }
            case .end(let id):
                guard let request = server.request(on: id) else { continue }
                if request.head.method == "CONNECT" {
                    server.send(Array("\(request.content.count)".utf8)[...], on: id)
                    ends.isOver.open()
                } else {
                    server.respond(id, body: "answer to \(request.head.target)")
                }
            case .reset(_, let code):
                ends.resets.withLock { $0.append(code) }
                ends.isOver.open()
            default: break
            }
        }
        ends.isOver.open()
    }

    private func open(_ stage: InterceptingStage) throws -> RawClient {
        let client = try stage.secure()
        client.send(stage.head("/chat", fields: SwitchingStage.asks))
        let response = try client.readHead()
        #expect(response.status == 101 && response["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(response["Upgrade"] == "websocket" && response["Sec-WebSocket-Protocol"] == "chat")
        return client
    }

    @Test("A client with HTTP/1.1 gets a stream of the open connection, and both ends are passed on")
    func switches() throws {
        let stage = try stage()
        #expect(try stage.fetch("/first").text == "answer to /first")
        let client = try open(stage)
        client.send("abc")
        #expect(try client.read(count: 3) == Array("cba".utf8))
        // Other requests go on meanwhile.
        #expect(try stage.fetch("/second").text == "answer to /second")
        client.send(bytes: [UInt8](repeating: 1, count: 300_000))
        client.endTLS()
        #expect(String(decoding: try client.readToEnd(), as: UTF8.self) == "300003")
        #expect(ends.resets.withLock { $0.isEmpty } && stage.origin.connectionCount == 1)
        let request = OriginRequest(head: stage.origin.requestHeads[1])
        #expect(request.method == "CONNECT" && request.target == "/chat" && request["sec-websocket-version"] == "13")
        #expect(request["sec-websocket-key"] == nil && request["upgrade"] == nil && request["connection"] == nil)
        let lines = try stage.proxy.logLines().filter { $0.contains("/chat") }
        #expect(lines.count == 1 && lines[0].contains("\"upstream_version\":\"2.0\"") && lines[0].contains("\"status\":101"))
    }

    @Test("A client with HTTP/2 gets a stream of the open connection")
    func switchesBetweenStreams() throws {
        let stage = try stage()
        let secure = try stage.secure { $0.protocols = ["h2"] }
        let client = try HTTP2Client(secure)
        let url = "https://one.test:\(stage.origin.port)"
        #expect(try client.fetch("\(url)/first").text == "answer to /first")
        let stream = try client.begin(
            "CONNECT", "\(url)/chat", [("sec-websocket-version", "13")], extendedConnect: "websocket", hasContent: true)
        let head = try client.readHead(on: stream)
        #expect(head.status == 200 && head.value("sec-websocket-protocol") == "chat" && head.value("upgrade") == nil)
        try client.send(Array("abc".utf8), on: stream)
        #expect(try client.read(3, on: stream) == "cba")
        try client.send([], on: stream, end: true)
        #expect(try client.readResponse(on: stream).text == "cba3")
        #expect(stage.origin.connectionCount == 1)
    }

    @Test("The origin's 1 MB arrives, and then its end")
    func passesMuch() throws {
        let stage = try stage()
        #expect(try stage.fetch("/first").status == 200)
        let client = try open(stage)
        client.send("much")
        #expect(try client.readToEnd() == [UInt8](repeating: 7, count: 1 << 20))
        #expect(stage.origin.connectionCount == 1)
    }

    @Test("A client that leaves resets its stream, and the connection goes on")
    func tellsOfLeaving() throws {
        let stage = try stage()
        #expect(try stage.fetch("/first").status == 200)
        let client = try open(stage)
        client.send("abc")
        #expect(try client.read(count: 3) == Array("cba".utf8))
        client.close()
        #expect(ends.isOver.wait() && ends.resets.withLock { $0 } == [.cancel])
        #expect(try stage.fetch("/second").text == "answer to /second")
        #expect(stage.origin.connectionCount == 1)
    }

    @Test("A stream that the origin resets ends the WebSocket, and the connection goes on")
    func tellsOfResets() throws {
        let stage = try stage()
        #expect(try stage.fetch("/first").status == 200)
        let client = try open(stage)
        client.send("reset")
        #expect(((try? client.readToEnd()) ?? []).isEmpty)
        #expect(try stage.fetch("/second").text == "answer to /second")
        #expect(stage.origin.connectionCount == 1)
    }

    @Test(
        "An origin that has not announced extended CONNECT, or has no open connection, gets HTTP/1.1", arguments: [true, false])
    func usesHTTP1(isConnected: Bool) throws {
        let stage = try stage(announces: !isConnected)
        if isConnected { #expect(try stage.fetch("/first").status == 200) }
        // A client in a tunnel makes Larder open a connection before the first request, and a client without a tunnel does not.
        let client = try isConnected ? open(stage) : RawClient(port: stage.proxy.port, owner: stage)
        if !isConnected {
            let authority = "one.test:\(stage.origin.port)"
            client.send("GET https://\(authority)/chat HTTP/1.1\r\nHost: \(authority)\r\n\(SwitchingStage.asks)\r\n")
            #expect(try client.readHead().status == 101)
        }
        client.send("abc")
        #expect(try client.read(count: 3) == Array("cba".utf8))
        let request = OriginRequest(head: try #require(stage.origin.requestHeads.last))
        #expect(request.method == "GET" && request["Upgrade"] == "websocket")
        #expect(stage.origin.connectionCount == (isConnected ? 2 : 1))
    }

    @Test("An origin that requires HTTP/1.1 for the WebSocket gets it, and other requests stay with HTTP/2 (HTTP_1_1_REQUIRED)")
    func obeysHTTP1Required() throws {
        let stage = try stage { server, id in server.session.reset(id, .http11Required) }
        #expect(try stage.fetch("/first").status == 200)
        for _ in 0..<2 {
            let client = try open(stage)
            client.send("abc")
            #expect(try client.read(count: 3) == Array("cba".utf8))
        }
        #expect(try stage.fetch("/second").text == "answer to /second")
        #expect(stage.origin.requestHeads.map { OriginRequest(head: $0).method } == ["GET", "CONNECT", "GET", "GET", "GET"])
        #expect(stage.origin.connectionCount == 3)
    }

    @Test("A response that does not accept the WebSocket reaches the client")
    func passesRefusals() throws {
        let stage = try stage { server, id in server.respond(id, 403, [("x-why", "closed")], body: "no") }
        #expect(try stage.fetch("/first").status == 200)
        let client = try stage.secure()
        client.send(stage.head("/chat", fields: SwitchingStage.asks))
        let response = try client.readResponse()
        #expect(response.status == 403 && response["X-Why"] == "closed" && response.text == "no")
        #expect(stage.origin.connectionCount == 1)
    }

    @Test("A proxy that stops closes its WebSockets, and its connections to origins")
    func stops() throws {
        let stage = try stage()
        #expect(try stage.fetch("/first").status == 200)
        let client = try open(stage)
        client.send("abc")
        #expect(try client.read(count: 3) == Array("cba".utf8))
        stage.proxy.stop()
        #expect(((try? client.readToEnd()) ?? []).isEmpty)
        #expect(ends.isOver.wait())
    }

    @Test("A reload that denies the origin's address ends the WebSocket")
    func obeysReloads() throws {
        let stage = try stage()
        #expect(try stage.fetch("/first").status == 200)
        let client = try open(stage)
        let policy = InterceptingStage.policy { $0.interceptsHTTP2 = true }
        let trust = try SecureStage.trust(stage.authority)
        try stage.proxy.reload(InterceptingStage.yaml + "\negress: {addresses: {deny: [127.0.0.1]}}") { [ours = stage.ours] in
            $0.transport.trust = trust
            $0.transport.connect = policy
            $0.authority = ours
            $0.offersHTTP2 = true
        }
        #expect(((try? client.readToEnd()) ?? []).isEmpty)
        #expect(ends.isOver.wait())
    }
}
