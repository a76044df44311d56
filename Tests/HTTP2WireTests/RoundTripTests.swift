import HTTPMessage
import TestSupport
import Testing

@testable import HTTP2Wire

@Suite("A client and a server (RFC 9113 §8)")
struct RoundTripTests {
    @Test("A request and a response arrive as they were sent, however the bytes are split", arguments: 0..<20 as Range<UInt64>)
    func exchanges(seed: UInt64) throws {
        var limits = HTTP2Limits()
        limits.streamWindow = 20_000
        limits.connectionWindow = 70_000
        let pair = try Pair(seed: seed, clientLimits: limits, serverLimits: limits)
        let request = try RequestHead.make(
            .post, "https://a.example:8443/p?q=1",
            [("Content-Type", "text/plain"), ("X-Long", String(repeating: "x", count: 5000))])
        let stream = try pair.client.session.submitRequest(request, endStream: false)
        let upload = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try pair.send(upload, on: stream, of: pair.client)
        try pair.server.session.submitResponse(stream, ResponseHead(200, [("Server", "s")]), endStream: false)
        let download = (0..<120_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        try pair.send(download, on: stream, of: pair.server)
        #expect(pair.server.content[stream] == upload, "seed \(seed)")
        #expect(pair.client.content[stream] == download, "seed \(seed)")
        let long = String(repeating: "x", count: 5000)
        #expect(
            pair.server.summaries.first
                == "1 request POST https://a.example:8443/p?q=1 content-type=text/plain x-long=\(long)", "seed \(seed)")
        #expect(pair.server.summaries.filter { $0 == "1 end" }.count == 1)
        #expect(pair.client.summaries.contains("1 response 200 server=s"))
        #expect(pair.client.summaries.last == "1 end")
        #expect(pair.client.session.streams.isEmpty && pair.server.session.streams.isEmpty)
    }

    @Test("The target of a received request is in absolute form, and its parts are found in it")
    func makesTargets() throws {
        let pair = try Pair()
        _ = try pair.client.request(.get, "https://A.example:444/p/q?r=s")
        pair.exchange()
        guard case .requestHead(1, let head, nil, true)? = pair.server.events.first else {
            Issue.record("\(pair.server.summaries)")
            return
        }
        #expect(head.version == .http2 && head.method == .get && head.target.form == .absolute && head.target.scheme == .https)
        #expect(head.fields.text(of: head.target.host) == "A.example" && head.target.port == 444)
        #expect(head.fields.text(of: head.target.path) == "/p/q" && head.fields.text(of: head.target.query) == "?r=s")
        #expect(head.fields.isEmpty)
    }

    @Test(
        "A URI is sent as scheme, authority and path",
        arguments: [
            ("http://a.example", "1 request GET http://a.example/ end"),
            ("http://a.example:80/x", "1 request GET http://a.example/x end"),
            ("https://a.example:80/x?", "1 request GET https://a.example:80/x? end"),
            ("https://[::1]:99?q", "1 request GET https://[::1]:99/?q end"),
        ])
    func sendsURIs(uri: String, expected: String) throws {
        let pair = try Pair()
        _ = try pair.client.request(.get, uri)
        pair.exchange()
        #expect(pair.server.summaries == [expected])
    }

    @Test("OPTIONS without a path is sent with a path of *, and received without a path")
    func sendsAsterisk() throws {
        let pair = try Pair()
        _ = try pair.client.request(.options, "https://a.example")
        pair.exchange()
        #expect(pair.server.summaries == ["1 request OPTIONS https://a.example end"])
    }

    @Test("Fields of HTTP/1.1 connections are not sent, and names are sent in lower case")
    func convertsFields() throws {
        let pair = try Pair()
        let fields = [
            ("Host", "a.example"), ("Connection", "close"), ("Keep-Alive", "1"), ("Proxy-Connection", "close"),
            ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("HTTP2-Settings", "a"), ("TE", "gzip"), ("TE", "trailers"),
            ("Accept", "A"),
        ]
        _ = try pair.client.session.submitRequest(.make(.get, "https://a.example/", fields), endStream: true)
        pair.exchange()
        #expect(pair.server.summaries == ["1 request GET https://a.example/ te=trailers accept=A end"])
        try pair.server.session.submitResponse(
            1, ResponseHead(200, [("Connection", "close"), ("ETag", "\"E\"")]), endStream: true)
        pair.exchange()
        #expect(pair.client.summaries == ["1 response 200 etag=\"E\" end"])
    }

    @Test("Cookies in several lines are joined by a semicolon and a space (RFC 9113 §8.2.3)")
    func joinsCookies() throws {
        let server = try Endpoint.server()
        let fields = FieldBlock.get + [("cookie", "a=1"), ("accept", "x"), ("cookie", "b=2"), ("cookie", "c=3")]
        server.receive([.headers(1, fields)])
        #expect(server.summaries == ["1 request GET https://a.example/ accept=x cookie=a=1; b=2; c=3 end"])
    }

    @Test("A request without :authority has the authority of its Host field")
    func takesAuthorityOfHost() throws {
        let server = try Endpoint.server()
        server.receive([.headers(1, FieldBlock.get.filter { $0.0 != ":authority" } + [("host", "h.example:8443")])])
        #expect(server.summaries == ["1 request GET https://h.example:8443/ host=h.example:8443 end"])
    }

    @Test("Trailers of both sides arrive behind the content, without fields that trailers cannot contain")
    func sendsTrailers() throws {
        let pair = try Pair()
        let stream = try pair.client.request(.post, endStream: false)
        _ = try [1, 2, 3].withUnsafeBytes { try pair.client.session.submitData(stream, $0, end: false) }
        try pair.client.session.submitTrailers(stream, Fields([("Checksum", "1"), ("Cache-Control", "no-store")]))
        pair.exchange()
        #expect(
            pair.server.summaries.filter { !$0.contains("data") } == [
                "1 request POST https://a.example/", "1 trailers checksum=1", "1 end",
            ])
        try pair.server.session.submitResponse(stream, ResponseHead(200), endStream: false)
        pair.exchange()
        try pair.server.session.submitTrailers(stream, Fields([("Server-Timing", "a")]))
        pair.exchange()
        #expect(pair.client.summaries == ["1 response 200", "1 trailers server-timing=a", "1 end"])
    }

    @Test("Informational responses arrive before the final one (RFC 9110 §15.2)")
    func sendsInformational() throws {
        let pair = try Pair()
        let stream = try pair.client.request(.get)
        pair.exchange()
        try pair.server.session.submitInformational(stream, ResponseHead(103, [("Link", "</a>")]))
        try pair.server.session.submitInformational(stream, ResponseHead(100))
        try pair.server.session.submitResponse(stream, ResponseHead(204), endStream: true)
        pair.exchange()
        #expect(pair.client.summaries == ["1 informational 103 link=</a>", "1 informational 100", "1 response 204 end"])
    }

    @Test("CONNECT opens a stream of bytes in both directions (RFC 9113 §8.5)")
    func connects() throws {
        let pair = try Pair()
        let stream = try pair.client.request(.connect, "a.example:443", endStream: false)
        pair.exchange()
        guard case .requestHead(_, let head, nil, false)? = pair.server.events.first else {
            Issue.record("\(pair.server.summaries)")
            return
        }
        #expect(head.target.form == .authority && head.fields.text(of: head.rawTarget) == "a.example:443")
        try pair.server.session.submitResponse(stream, ResponseHead(200), endStream: false)
        try pair.send(Array("up".utf8), on: stream, of: pair.client)
        try pair.send(Array("down".utf8), on: stream, of: pair.server)
        #expect(pair.server.content[stream] == Array("up".utf8) && pair.client.content[stream] == Array("down".utf8))
    }

    @Test("Extended CONNECT names its protocol and has a whole URI (RFC 8441 §4)")
    func connectsExtended() throws {
        let pair = try Pair(permitsExtendedConnect: true)
        #expect(pair.client.session.peerPermitsExtendedConnect)
        let head = try RequestHead.make(.get, "https://a.example/chat")
        var connect = head
        connect.method = .connect
        let name = Array("websocket".utf8)
        _ = try pair.client.session.submitRequest(connect, extendedConnect: name.span, endStream: false)
        pair.exchange()
        #expect(pair.server.summaries == ["1 request CONNECT https://a.example/chat :protocol websocket"])
    }

    @Test("A client does not send extended CONNECT to a server that has not announced it (RFC 8441 §3)")
    func holdsBackExtendedConnect() throws {
        let pair = try Pair()
        let head = try RequestHead.make(.get, "https://a.example/chat")
        let name = Array("websocket".utf8)
        #expect(throws: HTTP2SubmitError.extendedConnectNotPermitted) {
            _ = try pair.client.session.submitRequest(head, extendedConnect: name.span, endStream: false)
        }
    }

    @Test("A line that was never indexed is forwarded never indexed (RFC 7541 §6.2.3)")
    func keepsNeverIndexed() throws {
        let server = try Endpoint.server()
        let block = FieldBlock.literal(FieldBlock.get) + FieldBlock.literal([("x-key", "secret")], first: 0x10)
        server.receive([.headers(1, block: block, flags: Frame.endHeaders | Frame.endStream)])
        guard case .requestHead(_, let head, _, _)? = server.events.first else {
            Issue.record("\(server.summaries)")
            return
        }
        #expect(head.fields.lines.map(\.isNeverIndexed) == [true])
        let client = try Endpoint.client()
        _ = try client.session.submitRequest(head, endStream: true)
        client.send()
        let sent = try #require(client.sentFrames.last).payload
        let again = try Endpoint.server()
        again.receive([.headers(1, block: sent, flags: Frame.endHeaders | Frame.endStream)])
        guard case .requestHead(_, let forwarded, _, _)? = again.events.first else {
            Issue.record("\(again.summaries)")
            return
        }
        #expect(forwarded.fields.lines.map(\.isNeverIndexed) == [true])
    }

    @Test("The storage of heads that are given back is used again")
    func recyclesFields() throws {
        let server = try Endpoint.server()
        server.receive([.headers(1, FieldBlock.get + [("a", String(repeating: "b", count: 900))])])
        guard case .requestHead(_, let head, _, _)? = server.events.first else {
            Issue.record("\(server.summaries)")
            return
        }
        server.session.recycle(head.fields)
        server.forget()
        server.receive([.headers(3, FieldBlock.get + [("c", "d")])])
        #expect(server.summaries == ["3 request GET https://a.example/ c=d end"])
        #expect(server.session.spareFields.isEmpty)
    }
}
