import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Forwarding fields from hop to hop (RFC 9110 §7.6)")
struct ForwardingTests {
    @Test("T42, T47: hop-by-hop fields are not forwarded, and a client cannot nominate essential fields")
    func requestFields() throws {
        let book = try Playbook()
        try book.run(
            .request(
                "GET http://a.example/x", "Connection: keep-alive, X-Hop, Host, Content-Length, Cookie, Via, Cache-Control",
                "Keep-Alive: 5", "TE: trailers", "Upgrade: h2c", "HTTP2-Settings: AA", "Proxy-Connection: keep-alive",
                "Proxy-Authorization: Basic c2VjcmV0", "Proxy: http://evil.example", "X-Hop: 1", "X-End: 2", "Cookie: a=1",
                "Via: 1.1 before", "Cache-Control: max-age=1"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch])
        for name in [
            "connection", "keep-alive", "te", "upgrade", "http2-settings", "proxy-connection", "proxy-authorization", "proxy",
            "x-hop",
        ] {
            #expect(book.forwarded(name) == nil, "\(name)")
        }
        #expect(book.forwarded("x-end") == "2")
        #expect(book.forwarded("cookie") == "a=1")
        #expect(book.forwarded("cache-control") == "max-age=1")
        #expect(book.forwarded("via") == "1.1 before, 1.1 larder")
        #expect(book.forwarded("host") == "a.example")
    }

    @Test("The origin's hop-by-hop fields are not forwarded")
    func responseFields() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(
                200, "Connection: close, X-Hop, Cache-Control", "Keep-Alive: 5", "X-Hop: 1", "Upgrade: h2c", "Via: 1.1 origin",
                "Proxy-Authenticate: Basic", "Cache-Control: max-age=60", "Content-Length: 3", "Set-Cookie: a=1",
                "Set-Cookie: b=2"),
            [.relay(store: true)],
            .delivered, [.finish])
        let head = try #require(book.written)
        for name in ["connection", "keep-alive", "x-hop", "upgrade", "proxy-authenticate"] {
            #expect(head[name] == nil, "\(name)")
        }
        #expect(head["via"] == "1.1 origin, 1.1 larder")
        #expect(head["cache-control"] == "max-age=60")
        #expect(head.count("set-cookie") == 2)
        #expect(head.framing == .length(3))
    }

    @Test(
        "The origin receives a path, and a Host with the target's port if it is not 80",
        arguments: [
            ("http://a.example", "/", "a.example"), ("http://a.example?q", "/?q", "a.example"),
            ("http://a.example:80/a/../b?x=%20", "/a/../b?x=%20", "a.example"), ("http://[::1]:8080/", "/", "[::1]:8080"),
            ("http://a.example//x", "//x", "a.example"),
        ])
    func targets(uri: String, path: String, host: String) throws {
        let book = try Playbook()
        try book.run(.request("POST \(uri)", "Content-Length: 0"), [.fetch])
        let forwarded = try #require(book.forwarded)
        #expect(forwarded.fields.text(of: forwarded.rawTarget) == path)
        #expect(book.forwarded("host") == host)
    }

    @Test("An HTTP/1.0 client gets no chunks and no 1xx, and its connection closes")
    func oldClient() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x HTTP/1.0", "Connection: keep-alive"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch])
        #expect(book.forwarded("via") == "1.0 larder")
        var informational: [UInt8] = []
        book.exchange.writeInformational(try Messages.response(103, ["Link: </a>"]), into: &informational)
        #expect(informational.isEmpty)
        try book.run(
            .response(200, "Transfer-Encoding: chunked"), [.releaseJoined, .relay(store: false)],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.framing == .untilClose)
        #expect(head["connection"] == "close")
        let hit = try Playbook()
        try hit.run(
            .request("GET http://a.example/x HTTP/1.0"), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=60")]), [.sendStored],
            .delivered, [.finish])
        #expect(hit.written?["connection"] == "close")
        #expect(hit.written?["content-length"] == "10")
    }

    @Test("A 1xx is forwarded to an HTTP/1.1 client, without Content-Length")
    func informational() throws {
        let book = try Playbook()
        try book.run(.request("POST http://a.example/x", "Content-Length: 1"), [.fetch])
        var bytes: [UInt8] = []
        var head = try Messages.response(103, ["Link: </a>; rel=preload", "Connection: x-hop", "X-Hop: 1"])
        head.fields.append("Content-Length", "3")
        book.exchange.writeInformational(head, into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "HTTP/1.1 103 OK\r\nLink: </a>; rel=preload\r\n\r\n")
    }

    @Test(
        "The connection closes for HTTP/1.0 clients and clients that request it",
        arguments: [
            ("HTTP/1.1", "X: 1", true), ("HTTP/1.1", "Connection: close", false), ("HTTP/1.1", "Connection: x, CLOSE", false),
            ("HTTP/1.0", "Connection: keep-alive", false), ("HTTP/1.0", "X: 1", false),
        ])
    func connection(version: String, field: String, keeps: Bool) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x \(version)", field), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=60")]), [.sendStored],
            .delivered, [.finish])
        #expect(book.exchange.delivery.keepsConnection == keeps)
    }

    @Test("T16: the origin's reason phrase is forwarded unchanged; a status of Larder's has Larder's phrase")
    func reasonPhrase() throws {
        let book = try Playbook()
        try Messages.read(Messages.requestText("POST http://a.example/x", []), into: &book.exchange.request)
        _ = book.handle(.requestHead(body: .none, at: book.now))
        let received = ReceivedHead()
        try Messages.read("HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\n\r\n", into: &received.head)
        _ = book.handle(.upstreamHead(received, body: .known(0), at: book.now))
        var bytes: [UInt8] = []
        book.exchange.writeRelayedHead(at: book.now, into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 418 I'm a teapot\r\n"))
    }

    @Test("An exchange is reused for the next request without state of the previous one")
    func reuse() throws {
        let book = try Playbook(rules: [["match": ["host": "a.example"], "deny": ["reason": "no"]]])
        try book.run(.request("GET http://a.example/x", "Connection: close"), [.sendError], .delivered, [.finish])
        book.exchange.begin(id: 2, context: book.exchange.context)
        #expect(book.exchange.state == .idle)
        try book.run(
            .request("GET http://b.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Content-Length: 1"), [.releaseJoined, .relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
        #expect(book.written?["proxy-status"] == nil)
        #expect(book.exchange.trace.fault == nil)
        #expect(book.exchange.delivery.keepsConnection)
    }
}
