import HTTP2Wire

/// RFC 9113 §8.
extension ConformanceCase {
    private static let malformed = Reaction.streamError(1, .protocolError)

    private static func open(_ more: [(String, String)] = []) -> Frame { .headers(1, FieldBlock.post + more, end: false) }

    static let messages: [ConformanceCase] = [
        server(
            "8.1", "A request with content and trailers is accepted",
            [open(), .data(1, "abc"), .headers(1, [("checksum", "1")])], .accepted, heads: 1),
        server(
            "8.1", "Trailers without END_STREAM are malformed", [open(), .headers(1, [("checksum", "1")], end: false)], malformed,
            heads: 1),
        server(
            "8.1", "A pseudo-header field in trailers is malformed", [open(), .headers(1, [(":path", "/")])], malformed, heads: 1),
        client(
            "8.1", "A pseudo-header field in trailers of a response is malformed",
            [.headers(1, FieldBlock.ok, end: false), .headers(1, [("a", "b"), (":status", "200")])], malformed, heads: 1),
        client(
            "8.1", "A second final response is malformed",
            [.headers(1, FieldBlock.ok, end: false), .headers(1, FieldBlock.ok)], malformed, heads: 1),
        server(
            "8.1", "A Host field in trailers is malformed", [open(), .headers(1, [("host", "b.example")])], malformed, heads: 1),
        server(
            "8.1", "Content-Length in trailers is malformed", [open(), .headers(1, [("content-length", "3")])], malformed,
            heads: 1),
        server(
            "8.1", "Transfer-Encoding in trailers is malformed", [open(), .headers(1, [("transfer-encoding", "chunked")])],
            malformed,
            heads: 1),
        client(
            "8.1", "RST_STREAM with NO_ERROR after a response is accepted", [.headers(1, FieldBlock.ok), .reset(1, 0)], .accepted,
            heads: 1),
        server(
            "8.1.1", "Content that is as long as Content-Length is accepted",
            [open([("content-length", "3")]), .data(1, "abc", flags: Frame.endStream)], .accepted, heads: 1),
        server(
            "8.1.1", "Content shorter than Content-Length is malformed",
            [open([("content-length", "4")]), .data(1, "abc", flags: Frame.endStream)], malformed),
        server(
            "8.1.1", "Content longer than Content-Length is malformed",
            [open([("content-length", "2")]), .data(1, "abc")], malformed),
        server(
            "8.1.1", "Content longer than Content-Length in the second frame is malformed",
            [open([("content-length", "4")]), .data(1, "abc"), .data(1, "abc", flags: Frame.endStream)], malformed),
        server(
            "8.1.1", "Content shorter than Content-Length before trailers is malformed",
            [open([("content-length", "4")]), .data(1, "abc"), .headers(1, [("a", "b")])], malformed),
        request(
            "8.1.1", "A request without content and with Content-Length is malformed",
            FieldBlock.post + [("content-length", "4")], malformed),
        request(
            "8.1.1", "A Content-Length that is no number is malformed", FieldBlock.post + [("content-length", "+0")], malformed),
        request(
            "8.1.1", "Two Content-Length fields are malformed",
            FieldBlock.post + [("content-length", "0"), ("content-length", "0")], malformed),
        request(
            "8.1.1", "A Content-Length of 0 without content is accepted", FieldBlock.post + [("content-length", "0")], .accepted),
        response(
            "8.1.1", "A response shorter than its Content-Length is malformed", FieldBlock.ok + [("content-length", "4")],
            malformed),
        client(
            "8.1.1", "A response to HEAD can have a Content-Length without content",
            [.headers(1, FieldBlock.ok + [("content-length", "4")])], .accepted, heads: 1, requests: [.head]),
        client(
            "8.1.1", "A 304 response can have a Content-Length without content",
            [.headers(1, [(":status", "304"), ("content-length", "4")])], .accepted, heads: 1),
        client(
            "8.1.1", "Content of a response to HEAD is malformed",
            [.headers(1, FieldBlock.ok, end: false), .data(1, "abc", flags: Frame.endStream)], malformed, requests: [.head]),
    ]

    static let fieldNames: [ConformanceCase] = [
        request("8.2", "A name in upper case is malformed", FieldBlock.get + [("Accept", "a")], malformed),
        request("8.2.1", "A name with a space is malformed", FieldBlock.get + [("a b", "a")], malformed),
        block("8.2.1", "An empty name is malformed", FieldBlock.literal(FieldBlock.get) + FieldBlock.raw([], [97]), malformed),
        block(
            "8.2.1", "A name with a control is malformed", FieldBlock.literal(FieldBlock.get) + FieldBlock.raw([97, 1], [97]),
            malformed),
        block(
            "8.2.1", "A name with DEL is malformed", FieldBlock.literal(FieldBlock.get) + FieldBlock.raw([97, 127], [97]),
            malformed),
        block(
            "8.2.1", "A name that is not ASCII is malformed",
            FieldBlock.literal(FieldBlock.get) + FieldBlock.raw([97, 0xE9], [97]), malformed),
        request("8.2.1", "A name with a colon is malformed", FieldBlock.get + [("a:b", "a")], malformed),
        request("8.2.1", "A value with NUL is malformed", FieldBlock.get + [("a", "b\0c")], malformed),
        request("8.2.1", "A value with CR is malformed", FieldBlock.get + [("a", "b\rc")], malformed),
        request("8.2.1", "A value with LF is malformed", FieldBlock.get + [("a", "b\nc")], malformed),
        request("8.2.1", "A value that begins with a space is malformed", FieldBlock.get + [("a", " b")], malformed),
        request("8.2.1", "A value that begins with a tab is malformed", FieldBlock.get + [("a", "\tb")], malformed),
        request("8.2.1", "A value that ends with a space is malformed", FieldBlock.get + [("a", "b ")], malformed),
        request("8.2.1", "A value that ends with a tab is malformed", FieldBlock.get + [("a", "b\t")], malformed),
        request("8.2.1", "A value with a space inside is accepted", FieldBlock.get + [("a", "b c")], .accepted),
        request("8.2.1", "An empty value is accepted", FieldBlock.get + [("a", "")], .accepted),
        block(
            "8.2.1", "A value with bytes above 127 is accepted",
            FieldBlock.literal(FieldBlock.get) + FieldBlock.raw([97], [0xE9]), .accepted),
        response("8.2.1", "A name of a response in upper case is malformed", FieldBlock.ok + [("Server", "a")], malformed),
        response("8.2.1", "A value of a response with LF is malformed", FieldBlock.ok + [("a", "b\nc")], malformed),
        request("8.2.2", "Connection is malformed", FieldBlock.get + [("connection", "close")], malformed),
        request("8.2.2", "Keep-Alive is malformed", FieldBlock.get + [("keep-alive", "timeout=1")], malformed),
        request("8.2.2", "Proxy-Connection is malformed", FieldBlock.get + [("proxy-connection", "keep-alive")], malformed),
        request("8.2.2", "Transfer-Encoding is malformed", FieldBlock.get + [("transfer-encoding", "chunked")], malformed),
        request("8.2.2", "Upgrade is malformed", FieldBlock.get + [("upgrade", "h2c")], malformed),
        request("8.2.2", "TE besides trailers is malformed", FieldBlock.get + [("te", "gzip")], malformed),
        request("8.2.2", "TE with trailers is accepted", FieldBlock.get + [("te", "trailers")], .accepted),
        response("8.2.2", "Connection in a response is malformed", FieldBlock.ok + [("connection", "close")], malformed),
        response(
            "8.2.2", "Transfer-Encoding in a response is malformed", FieldBlock.ok + [("transfer-encoding", "chunked")], malformed
        ),
        request(
            "8.2.3", "Cookies in several lines are accepted", FieldBlock.get + [("cookie", "a=1"), ("cookie", "b=2")], .accepted),
    ]

    static let requests: [ConformanceCase] = [
        request("8.3", "An unknown pseudo-header field is malformed", FieldBlock.get + [(":test", "a")], malformed),
        request("8.3", "A pseudo-header field of responses is malformed", FieldBlock.get + [(":status", "200")], malformed),
        request(
            "8.3", "A pseudo-header field after a field is malformed",
            Array(FieldBlock.get[..<3]) + [("a", "b"), FieldBlock.get[3]], malformed),
        request("8.3", "A repeated :method is malformed", FieldBlock.get + [(":method", "GET")], malformed),
        request("8.3", "A repeated :scheme is malformed", FieldBlock.get + [(":scheme", "https")], malformed),
        request("8.3", "A repeated :path is malformed", FieldBlock.get + [(":path", "/")], malformed),
        request("8.3", "A repeated :authority is malformed", FieldBlock.get + [(":authority", "a.example")], malformed),
        request("8.3.1", "A missing :method is malformed", Array(FieldBlock.get[1...]), malformed),
        request("8.3.1", "A missing :scheme is malformed", [FieldBlock.get[0]] + FieldBlock.get[2...], malformed),
        request("8.3.1", "A missing :path is malformed", Array(FieldBlock.get[..<3]), malformed),
        request("8.3.1", "An empty :path is malformed", Array(FieldBlock.get[..<3]) + [(":path", "")], malformed),
        request("8.3.1", "A :path without a slash is malformed", Array(FieldBlock.get[..<3]) + [(":path", "a")], malformed),
        request("8.3.1", "A :path with a space is malformed", Array(FieldBlock.get[..<3]) + [(":path", "/a b")], malformed),
        request("8.3.1", "A :path with a fragment is malformed", Array(FieldBlock.get[..<3]) + [(":path", "/a#b")], malformed),
        request(
            "8.3.1", "A :path of * is malformed, except for OPTIONS", Array(FieldBlock.get[..<3]) + [(":path", "*")], malformed),
        request(
            "8.3.1", "OPTIONS with a :path of * is accepted",
            [(":method", "OPTIONS"), (":scheme", "https"), (":authority", "a.example"), (":path", "*")], .accepted),
        request("8.3.1", "An empty :method is malformed", [(":method", "")] + FieldBlock.get[1...], malformed),
        request("8.3.1", "A :method that is no token is malformed", [(":method", "G T")] + FieldBlock.get[1...], malformed),
        request(
            "8.3.1", "An empty :scheme is malformed", [FieldBlock.get[0], (":scheme", "")] + FieldBlock.get[2...], malformed),
        request(
            "8.3.1", "A :scheme with a slash is malformed", [FieldBlock.get[0], (":scheme", "http://b")] + FieldBlock.get[2...],
            malformed),
        request("8.3.1", "Userinfo in :authority is malformed", authority("u:p@a.example"), malformed),
        request("8.3.1", "An empty :authority is malformed", authority(""), malformed),
        request("8.3.1", "An :authority with a path is malformed", authority("a.example/b"), malformed),
        request("8.3.1", "An :authority with a port that is none is malformed", authority("a.example:99999"), malformed),
        request("8.3.1", "An :authority with a comma is malformed", authority("a.example,b.example"), malformed),
        request("8.3.1", "An :authority that is an IPv6 address is accepted", authority("[::1]:8080"), .accepted),
        request("8.3.1", "A Host field like :authority is accepted", FieldBlock.get + [("host", "A.example:443")], .accepted),
        request(
            "8.3.1", "A Host field that differs from :authority is malformed", FieldBlock.get + [("host", "b.example")], malformed
        ),
        request("8.3.1", "A Host field with another port is malformed", FieldBlock.get + [("host", "a.example:80")], malformed),
        request(
            "8.3.1", "A Host field that cannot be parsed is malformed", FieldBlock.get + [("host", "a@a.example")], malformed),
        request("8.3.1", "An empty Host field beside :authority is malformed", FieldBlock.get + [("host", "")], malformed),
        request(
            "8.3.1", "A repeated Host field is malformed", FieldBlock.get + [("host", "a.example"), ("host", "a.example")],
            malformed),
        request(
            "8.3.1", "A Host field replaces a missing :authority",
            FieldBlock.get.filter { $0.0 != ":authority" } + [("host", "a.example")], .accepted),
        request(
            "8.3.1", "A request without :authority and Host is malformed", FieldBlock.get.filter { $0.0 != ":authority" },
            malformed),
    ]

    private static func authority(_ text: String) -> [(String, String)] {
        FieldBlock.get.map { $0.0 == ":authority" ? ($0.0, text) : $0 }
    }

    static let responses: [ConformanceCase] = [
        response("8.3.2", "A missing :status is malformed", [("server", "a")], malformed),
        response("8.3.2", "A :status that is no number is malformed", [(":status", "2x0")], malformed),
        response("8.3.2", "A :status of two digits is malformed", [(":status", "20")], malformed),
        response("8.3.2", "A :status below 100 is malformed", [(":status", "099")], malformed),
        response("8.3.2", "An empty :status is malformed", [(":status", "")], malformed),
        response("8.3.2", "A repeated :status is malformed", [(":status", "200"), (":status", "200")], malformed),
        response("8.3", "A pseudo-header field of requests is malformed", [(":status", "200"), (":path", "/")], malformed),
        response("8.3", "A :status after a field is malformed", [("a", "b"), (":status", "200")], malformed),
        response("8.6", "Status 101 is malformed", [(":status", "101")], malformed),
        response("8.1", "An informational response with END_STREAM is malformed", [(":status", "103")], malformed),
        client(
            "8.1", "Informational responses before the final one are accepted",
            [
                .headers(1, [(":status", "100")], end: false), .headers(1, [(":status", "103")], end: false),
                .headers(1, FieldBlock.ok),
            ],
            .accepted, heads: 3),
        client(
            "8.1", "DATA between an informational and the final response is an error",
            [.headers(1, [(":status", "103")], end: false), .data(1, "a")], malformed, heads: 1),
        client(
            "8.1", "An informational response after the final one is malformed",
            [.headers(1, FieldBlock.ok, end: false), .headers(1, [(":status", "103")], end: false)], malformed, heads: 1),
    ]

    static let connects: [ConformanceCase] = [
        request("8.5", "CONNECT with :authority alone is accepted", FieldBlock.connect, .accepted),
        request("8.5", "CONNECT with :scheme is malformed", FieldBlock.connect + [(":scheme", "https")], malformed),
        request("8.5", "CONNECT with :path is malformed", FieldBlock.connect + [(":path", "/")], malformed),
        request("8.5", "CONNECT without :authority is malformed", [(":method", "CONNECT")], malformed),
        request(
            "8.5", "CONNECT with Host in the place of :authority is malformed",
            [(":method", "CONNECT"), ("host", "a.example:443")], malformed),
        request("8.5", "CONNECT without a port is malformed", [(":method", "CONNECT"), (":authority", "a.example")], malformed),
        server(
            "8.5", "HEADERS in a tunnel is a stream error",
            [.headers(1, FieldBlock.connect, end: false), .data(1, "a"), .headers(1, [("a", "b")])], malformed, heads: 1),
        server(
            "8.5", "DATA in a tunnel is accepted",
            [.headers(1, FieldBlock.connect, end: false), .data(1, "a", flags: Frame.endStream)], .accepted, heads: 1),
        request(
            "RFC 8441 4", "Extended CONNECT that was not announced is malformed", websocket, malformed),
        request(
            "RFC 8441 4", "Extended CONNECT that was announced is accepted", websocket, .accepted,
            start: .serverReadyForExtendedConnect),
        request(
            "RFC 8441 4", ":protocol without CONNECT is malformed", FieldBlock.get + [(":protocol", "websocket")], malformed,
            start: .serverReadyForExtendedConnect),
        request(
            "RFC 8441 4", "Extended CONNECT without :path is malformed",
            FieldBlock.connect + [(":scheme", "https"), (":protocol", "websocket")], malformed,
            start: .serverReadyForExtendedConnect),
        request(
            "RFC 8441 4", "Extended CONNECT without :scheme is malformed",
            FieldBlock.connect + [(":path", "/"), (":protocol", "websocket")], malformed, start: .serverReadyForExtendedConnect),
        request(
            "RFC 8441 4", "CONNECT without :protocol is accepted beside extended CONNECT", FieldBlock.connect, .accepted,
            start: .serverReadyForExtendedConnect),
    ]

    private static let websocket = [
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":authority", "a.example"), (":path", "/chat"),
    ]
}
