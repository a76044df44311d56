import HTTPCaching
import HTTPMessage
import ProxyPolicy
import Testing

@testable import ProxyCore

@Suite("Requests to switch protocols (RFC 9110 §7.8)")
struct SwitchingTests {
    private static let asks = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: a", "Sec-WebSocket-Version: 13"]
    private static let grants = [
        "Connection: upgrade", "Upgrade: WebSocket", "Sec-WebSocket-Accept: FtgH8qqfEKHvZKEZYEWkYDhlXNY=",
    ]
    private static let asking = Playbook.Step.request("GET http://a.example/x", asks)

    @Test("The request is forwarded even if a response is stored, and the 101 is relayed with the new protocol's fields")
    func passesOn() throws {
        let book = try Playbook()
        try book.run(
            Self.asking, [.fetch],
            .response(101, Self.grants + ["Sec-WebSocket-Protocol: chat", "Content-Length: 5", "X-Hop: 1"]), [.relaySwitched],
            .delivered, [.finish])
        #expect(book.forwarded("connection") == "upgrade" && book.forwarded("upgrade") == "websocket")
        #expect(book.forwarded("sec-websocket-key") == "a")
        #expect(
            book.switched == """
                HTTP/1.1 101 OK\r
                Sec-WebSocket-Accept: FtgH8qqfEKHvZKEZYEWkYDhlXNY=\r
                Sec-WebSocket-Protocol: chat\r
                X-Hop: 1\r
                Connection: upgrade\r
                Upgrade: websocket\r
                Via: 1.1 larder\r
                \r

                """)
        #expect(book.exchange.trace.outcome == .tunnel && book.exchange.trace.status == 101)
        #expect(book.exchange.trace.upstreamStatus == 101)
    }

    @Test("Any other response is handled as usual, and is not stored", arguments: [200, 304, 403, 426])
    func isRefused(status: Int) throws {
        let book = try Playbook()
        try book.run(
            Self.asking, [.fetch],
            .response(status, "Cache-Control: max-age=60", "Content-Length: 0"),
            status == 304 ? [.discardUpstreamBody, .sendError] : [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus["fwd"] == "bypass" && book.exchange.delivery.keepsConnection)
        if status != 304 { #expect(book.exchange.trace.outcome == .bypass && book.written?.cacheStatus["detail"] == "upgrade") }
    }

    @Test(
        "An Upgrade field that is not only for WebSocket, or not valid, is ignored",
        arguments: [
            ("GET http://a.example/x", ["Connection: Upgrade", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"]),
            ("GET http://a.example/x", ["Connection: Upgrade", "Upgrade: websocket, h2c"]),
            ("GET http://a.example/x", ["Connection: Upgrade", "Upgrade: websocket", "Upgrade: websocket"]),
            ("GET http://a.example/x", ["Connection: Upgrade", "Upgrade: TLS/1.2"]),
            ("GET http://a.example/x", ["Connection: Upgrade", "Upgrade: websocketx"]),
            ("GET http://a.example/x", ["Connection: Upgrade", "Upgrade:"]),
            ("GET http://a.example/x", ["Connection: keep-alive", "Upgrade: websocket"]),
            ("GET http://a.example/x", ["Upgrade: websocket"]),
            ("GET http://a.example/x HTTP/1.0", ["Connection: Upgrade", "Upgrade: websocket"]),
        ])
    func ignores(line: String, fields: [String]) throws {
        let book = try Playbook()
        try book.run(.request(line, fields), [.lookUp(onDisk: false)], .found([]), [.joinFetch], .leads, [.fetch])
        #expect(book.exchange.incoming.isForSwitch == false)
    }

    @Test(
        "Upgrade is ignored in a request with content, or with another method than GET",
        arguments: [
            ("GET http://a.example/x", ["Content-Length: 1"]), ("GET http://a.example/x", ["Transfer-Encoding: chunked"]),
            ("POST http://a.example/x", []), ("POST http://a.example/x", ["Content-Length: 3"]),
            ("HEAD http://a.example/x", []),
        ])
    func ignoresContent(line: String, fields: [String]) throws {
        let book = try Playbook()
        let commands: Playbook.Step = line.hasPrefix("HEAD") ? [.lookUp(onDisk: false)] : [.fetch]
        try book.run(.request(line, Self.asks + fields), commands)
        #expect(book.exchange.incoming.isForSwitch == false)
    }

    @Test(
        "A 101 to another protocol, or to none, is refused",
        arguments: [
            ["Connection: upgrade", "Upgrade: h2c"], ["Connection: upgrade", "Upgrade: websocket, x"], ["Connection: upgrade"],
            ["Upgrade: websocket"], [],
        ])
    func refusesOtherProtocol(fields: [String]) throws {
        let book = try Playbook()
        try book.run(
            Self.asking, [.fetch],
            .response(101, fields), [.cancelUpstream, .sendError],
            .delivered, [.finish])
        #expect(book.written?.status == 502 && book.exchange.trace.fault == .unexpectedUpgrade)
    }

    @Test("A 101 that confirms another key, or none, is refused", arguments: [["Sec-WebSocket-Accept: b"], []])
    func refusesOtherKey(fields: [String]) throws {
        let book = try Playbook()
        try book.run(
            Self.asking, [.fetch],
            .response(101, Self.grants.dropLast() + fields), [.cancelUpstream, .sendError],
            .delivered, [.finish])
        #expect(book.written?.status == 502 && book.exchange.trace.fault == .webSocketAcceptMismatch)
    }

    @Test("The request is not forwarded offline, or with only-if-cached")
    func isMissed() throws {
        let offline = Playbook(context: ExchangeContext(rules: .empty, mode: .offline))
        try offline.run(Self.asking, [.sendError], .delivered, [.finish])
        #expect(offline.exchange.trace.fault == .offlineMiss(detail: "upgrade"))
        let stored = try Playbook()
        try stored.run(.request("GET http://a.example/x", Self.asks + ["Cache-Control: only-if-cached"]), [.sendError])
        #expect(stored.exchange.trace.fault == .onlyIfCachedMiss(detail: "upgrade"))
    }

    @Test("Rules can deny the request, and edit both heads")
    func obeysRules() throws {
        let denied = try Playbook(rules: [["match": ["path": "/x"], "deny": ["reason": "no"]]])
        try denied.run(Self.asking, [.sendError], .delivered, [.finish])
        #expect(denied.written?.status == 403)
        let edited = try Playbook(rules: [
            ["match": ["path": "/x"], "request": ["set": ["X-A": "1"]], "response": ["set": ["X-B": "2"]]]
        ])
        try edited.run(Self.asking, [.fetch], .response(101, Self.grants), [.relaySwitched])
        #expect(edited.forwarded("x-a") == "1" && edited.switched.contains("X-B: 2\r\n"))
    }

    @Test("An exchange that has switched leaves no state to the next one on the connection")
    func begins() throws {
        let book = try Playbook()
        try book.run(Self.asking, [.fetch], .response(403, "Content-Length: 0"), [.relay(store: false)], .delivered, [.finish])
        book.exchange.begin(id: 2, context: book.exchange.context)
        try book.run(.request("GET http://a.example/x"), [.lookUp(onDisk: false)])
        #expect(book.exchange.incoming.isForSwitch == false)
    }
}
