import HTTP2Wire
import HTTPMessage
import ServerTrust
import TestSupport
import Testing
import WebSocketWire

@testable import LarderHTTP

@Suite("HTTPSession: opening a WebSocket (RFC 6455 §4.1, RFC 8441)")
struct WebSocketOpeningTests {
    private let authority = TestAuthority()

    private func session(
        _ trust: TrustPolicySet? = nil, _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = SessionConfiguration()
        configuration.retries = .never
        change(&configuration)
        return try HTTPSession(configuration: configuration, trust: .policies(trust ?? authority.policies()))
    }

    private static let echoes: ScriptedOrigin.Script = { connection in _ = ServerSocket.accept(connection)?.echo(connection) }

    private func talk(_ socket: WebSocket) async throws {
        var messages = socket.makeAsyncIterator()
        try await socket.send("a message")
        #expect(try await messages.next() == .text("a message"))
        await socket.close()
    }

    @Test(
        "A response that is not a valid handshake is refused, and the error has its head",
        arguments: [
            ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n", "status 403"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "status 200"),
            (
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
                "Sec-WebSocket-Accept does not match"
            ),
            (
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n",
                "Sec-WebSocket-Accept does not match"
            ),
            (
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\n",
                "does not switch"
            ),
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: KEY\r\n", "does not switch"),
            (
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\nSec-WebSocket-Protocol: other\r\n",
                "subprotocol that was not offered"
            ),
            (
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\nSec-WebSocket-Extensions: x-other\r\n",
                "unknown_extension"
            ),
        ])
    func refuses(response: String, reason: String) async throws {
        let origin = ScriptedOrigin { connection in
            guard let head = connection.readHead() else { return }
            let key = Array((OriginRequest(head: head)["Sec-WebSocket-Key"] ?? "").utf8)
            let accept = String(decoding: WebSocketHandshake.accept(key.span), as: UTF8.self)
            connection.send(response.replacing("KEY", with: accept) + (response.contains("\r\n\r\n") ? "" : "\r\n"))
            _ = connection.readToEnd()
        }
        let session = try session()
        let error = try await HTTPSession.failure { try await session.webSocket("ws://127.0.0.1:\(origin.port)/") }
        #expect(error.code == .webSocketRefused && error.causes[0].detail.contains(reason), "\(error)")
        #expect(error.response.map { "HTTP/1.1 \($0.status)" } == String(response.prefix(12)))
        #expect(session.transfers().isEmpty)
        await session.shutdown(.cancel)
        origin.stop()
    }

    @Test(
        "A request that no WebSocket can have is refused before it is sent",
        arguments: [
            (SessionRequest(.post, "ws://one.test/"), SessionError.Code.malformedRequest),
            (SessionRequest(.get, "ws://one.test/", body: .octets([1])), .malformedRequest),
            (SessionRequest(.get, "ws://one.test/", fields: ["Sec-WebSocket-Key": "x"]), .malformedRequest),
            (SessionRequest(.get, "ws://one.test/#part"), .badURL), (SessionRequest(.get, "ftp://one.test/"), .badURL),
        ])
    func refusesRequests(request: SessionRequest, code: SessionError.Code) async throws {
        let session = try session()
        #expect(try await HTTPSession.failure { try await session.webSocket(request) }.code == code)
    }

    @Test("Redirects, cookies, credentials and fields of the session apply to the handshake")
    func usesSession() async throws {
        let origin = ScriptedOrigin { connection in
            while let head = connection.readHead() {
                let request = OriginRequest(head: head)
                switch request.target {
                case "/first": connection.respond("307 Temporary Redirect", fields: "Location: /second\r\nSet-Cookie: id=7\r\n")
                case "/second" where request["Authorization"] == nil:
                    connection.respond("401 Unauthorized", fields: "WWW-Authenticate: Basic realm=\"r\"\r\n")
                default:
                    connection.send(ServerSocket.grant(request))
                    _ = ServerSocket(request).echo(connection)
                    return
                }
            }
        }
        let session = try session { configuration in
            configuration.cookies = CookieJar()
            configuration.defaultFields["X-App"] = "notes"
            configuration.authentication.credentials = [.init(host: "127.0.0.1", credential: .password(user: "a", password: "b"))]
            configuration.authentication.allowsPlaintext = true
        }
        let socket = try await session.webSocket("ws://127.0.0.1:\(origin.port)/first")
        #expect(socket.uri.path == "/second")
        try await talk(socket)
        let last = OriginRequest(head: try #require(origin.requestHeads.last))
        #expect(last["Cookie"] == "id=7" && last["X-App"] == "notes" && last["Authorization"] == "Basic YTpi")
        let keys = origin.requestHeads.compactMap { OriginRequest(head: $0)["Sec-WebSocket-Key"] }
        #expect(keys.count == 3 && Set(keys).count == 3)
        origin.stop()
    }

    @Test("The session's trust and pins apply to wss", arguments: [true, false])
    func judges(isPinned: Bool) async throws {
        let identity = authority.identity()
        let pins = try (isPinned ? identity : TestAuthority(name: "Another").identity()).pins()
        let origin = ScriptedOrigin(identity: identity, script: Self.echoes)
        let session = try session(authority.policies(pins: pins))
        let target = "wss://127.0.0.1:\(origin.port)/"
        if isPinned {
            try await talk(try await session.webSocket(target))
        } else {
            let error = try await HTTPSession.failure { try await session.webSocket(target) }
            #expect(error.code == .trustRejected && error.trust?.reason == .pinMismatch && origin.requestHeads.isEmpty)
        }
        origin.stop()
    }

    @Test("An upstream proxy is asked for a tunnel, for ws and for wss", arguments: ["ws", "wss"])
    func tunnels(scheme: String) async throws {
        let identity = authority.identity()
        let proxy = ScriptedOrigin { connection in
            guard let head = connection.readHead(), head.hasPrefix("CONNECT one.test:8765 ") else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            if scheme == "wss" { connection.speakTLS(as: identity, Self.echoes) } else { Self.echoes(connection) }
        }
        let session = try session { $0.proxy = SessionProxy(host: "127.0.0.1", port: proxy.port) }
        try await talk(try await session.webSocket("\(scheme)://one.test:8765/"))
        #expect(proxy.requestHeads.count == 2 && proxy.requestHeads[1].hasPrefix("GET / HTTP/1.1\r\n"))
        proxy.stop()
    }

    @Test("The stream of an open HTTP/2 connection is used where the origin supports it", arguments: [true, false])
    func usesStream(announces: Bool) async throws {
        let origin = ScriptedOrigin(identity: authority.identity().choosingHTTP2()) { connection in
            guard connection.isHTTP2 else { return Self.echoes(connection) }
            let server = HTTP2Origin(permitsExtendedConnect: announces)
            while let event = server.next(on: connection) {
                switch event {
                case .head(let id):
                    if server.request(on: id)?.head.method == "CONNECT" { server.begin(id) }
                case .content(let id, let bytes): server.send(Self.echoed(bytes)[...], on: id)
                case .end(let id):
                    if server.request(on: id)?.head.method == "CONNECT" {
                        server.send([], on: id)
                    } else {
                        server.respond(id, body: "first")
                    }
                default: break
                }
            }
        }
        let session = try session()
        let authority = "127.0.0.1:\(origin.port)"
        #expect(try await session.send(SessionRequest(.get, "https://\(authority)/")).text == "first")
        let socket = try await session.webSocket("wss://\(authority)/chat")
        try await talk(socket)
        #expect(origin.connectionCount == (announces ? 1 : 2))
        await session.shutdown(.cancel)
        origin.stop()
    }

    /// The frames of a client, without their masks.
    private static func echoed(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let reader = WebSocketReader(.server)
        let bytes = Array(bytes)
        var output: [UInt8] = []
        var offset = 0
        while let event = try? reader.next(bytes.span, from: &offset) {
            switch event {
            case .message(let message): WebSocketWriter(.server) { 0 }.write(message, into: &output)
            case .close(let closing):
                WebSocketWriter.write(.close, closing.map(WebSocketWriter.payload) ?? [], maskingKey: nil, into: &output)
            default: break
            }
        }
        return output
    }
}
