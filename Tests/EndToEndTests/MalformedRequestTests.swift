import Testing
import TestSupport

/// A malformed request, and its expected refusal.
struct Refusal: Sendable, CustomTestStringConvertible {
    let what: String
    let request: String
    let status: Int
    let detail: String?

    init(_ what: String, _ request: String, _ status: Int = 400, _ detail: String? = nil) {
        self.what = what
        self.request = request
        self.status = status
        self.detail = detail
    }

    var testDescription: String { what }
}

@Suite("Requests that are refused (RFC 9112 §2.2, §3, §5, §6), over a raw socket")
struct MalformedRequestTests {
    private static let smuggling = [
        Refusal(
            "both lengths", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"), 400,
            "content_length_and_transfer_encoding"),
        Refusal("two lengths", post("Content-Length: 4\r\nContent-Length: 5\r\n"), 400, "repeated_content_length"),
        Refusal("two equal lengths", post("Content-Length: 4\r\nContent-Length: 4\r\n"), 400, "repeated_content_length"),
        Refusal("a plus", post("Content-Length: +5\r\n"), 400, "malformed_content_length"),
        Refusal("a list", post("Content-Length: 5,5\r\n"), 400, "malformed_content_length"),
        Refusal("a minus", post("Content-Length: -1\r\n"), 400, "malformed_content_length"),
        Refusal("hexadecimal", post("Content-Length: 0x5\r\n"), 400, "malformed_content_length"),
        Refusal("an overflow", post("Content-Length: 99999999999999999999999\r\n"), 400, "malformed_content_length"),
        Refusal("no digits", post("Content-Length: \r\n"), 400, "malformed_content_length"),
        Refusal("an inner blank", post("Content-Length: 5 5\r\n"), 400, "malformed_content_length"),
        Refusal("chunked, identity", post("Transfer-Encoding: chunked, identity\r\n")),
        Refusal("chunked twice", post("Transfer-Encoding: chunked, chunked\r\n")),
        Refusal("chunked in two lines", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
        Refusal("not final", post("Transfer-Encoding: chunked, gzip\r\n")),
        Refusal("unknown coding", post("Transfer-Encoding: xchunked\r\n"), 501, nil),
        Refusal(
            "transfer coding in HTTP/1.0", "POST http://127.0.0.1/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
            "transfer_encoding_in_http10"),
        Refusal(
            "content in CONNECT", "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nContent-Length: 3\r\n\r\nabc", 400,
            "content_in_connect"),
    ]

    private static let lines = [
        Refusal("bare LF", "GET http://127.0.0.1/ HTTP/1.1\nHost: a\n\n"),
        Refusal("bare LF in a field", get("X-A: 1\nX-B: 2\r\n"), 400, "bare_lf"),
        Refusal("bare CR", get("X-A: 1\rX-B: 2\r\n"), 400, "bare_cr"),
        Refusal("folded line", get("X-A: 1\r\n 2\r\n"), 400, "obs_fold"),
        Refusal("first line folded", "GET http://127.0.0.1/ HTTP/1.1\r\n Host: a\r\n\r\n", 400, "obs_fold"),
        Refusal("blank before the colon", get("X-A : 1\r\n"), 400, "blank_before_colon"),
        Refusal("NUL", get("X-A: 1\u{0}2\r\n"), 400, "nul"),
        Refusal("control octet", get("X-A: 1\u{7}2\r\n"), 400, "control_octet"),
        Refusal("empty name", get(": 1\r\n"), 400, "empty_field_name"),
        Refusal("illegal name", get("X(A): 1\r\n"), 400, "illegal_field_name"),
        Refusal("non-ASCII name", get("Xä: 1\r\n"), 400, "illegal_field_name"),
        Refusal("no colon", get("X-A\r\n"), 400, "missing_colon"),
        Refusal("two blanks in the request line", "GET  http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("no version", "GET http://127.0.0.1/\r\n\r\n"),
        Refusal("HTTP/2.0", "GET http://127.0.0.1/ HTTP/2.0\r\nHost: a\r\n\r\n", 505, nil),
        Refusal("TLS hello", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", 400, "not_http"),
    ]

    private static let chunks = [
        Refusal("size overflows", chunked("FFFFFFFFFFFFFFFFF\r\n"), 400, "chunk_size_too_large"),
        Refusal("no size", chunked("\r\n"), 400, "malformed_chunk_size"),
        Refusal("0x size", chunked("0x3\r\nabc\r\n"), 400, "malformed_chunk_size"),
        Refusal("blank size", chunked(" 3\r\nabc\r\n"), 400, "malformed_chunk_size"),
        Refusal("minus size", chunked("-3\r\nabc\r\n"), 400, "malformed_chunk_size"),
        Refusal("extension with LF", chunked("3;a=b\nX\r\nabc\r\n0\r\n\r\n"), 400, nil),
        Refusal("bare LF", chunked("3\nabc\r\n0\r\n\r\n"), 400, nil),
        Refusal("data too long", chunked("3\r\nabcd\r\n0\r\n\r\n"), 400, "unterminated_chunk"),
        Refusal("trailer with a bare CR", chunked("0\r\nX: 1\r2\r\n\r\n"), 400, "bare_cr"),
        Refusal("trailer that frames", chunked("0\r\nContent-Length: 4\r\n\r\n"), 400, "forbidden_trailer"),
        Refusal("trailer folded", chunked("0\r\nX: 1\r\n 2\r\n\r\n"), 400, "obs_fold"),
        Refusal(
            "trailers too large", chunked("0\r\nX: \(String(repeating: "x", count: 9000))\r\n\r\n"), 400, "trailers_too_large"),
        Refusal("size line too long", chunked("3;\(String(repeating: "x", count: 400))\r\n"), 400, nil),
    ]

    private static let targets = [
        Refusal("userinfo", "GET http://user@127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("two @", "GET http://a@b@127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("fragment", "GET http://127.0.0.1/#x HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("backslash", "GET http://127.0.0.1\\@evil.test/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("%00 in the host", "GET http://127.0.0.1%00.test/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("empty host", "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("port too large", "GET http://127.0.0.1:65536/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("port 0", "GET http://127.0.0.1:0/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("non-ASCII host", "GET http://ex\u{0430}mple.test/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal("missing Host", "GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", 400, "missing_host"),
        Refusal("two Hosts", "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "repeated_host"),
        Refusal("malformed Host", "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "malformed_host_field"),
        Refusal("CONNECT without port", "CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n"),
        Refusal("CONNECT with a path", "CONNECT a.test:443/x HTTP/1.1\r\nHost: a.test\r\n\r\n"),
        Refusal("CONNECT with userinfo", "CONNECT u@a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n"),
    ]

    private static let schemes = ["ftp", "gopher", "urn", "file", "ws", "javascript", "HTTPX"].map {
        Refusal($0, "GET \($0)://127.0.0.1/x HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    private static func post(_ fields: String) -> String {
        "POST http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }
    private static func get(_ fields: String) -> String {
        "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }
    /// PORT stands for the origin's port: Larder checks a chunked body when it forwards it.
    private static func chunked(_ body: String) -> String {
        "POST http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
    }

    @Test("T10 a request with ambiguous framing is refused, and the connection closed", arguments: smuggling)
    func refusesSmuggling(refusal: Refusal) throws { try check(refusal) }

    @Test("T11 a request with malformed lines is refused, and the connection closed", arguments: lines)
    func refusesLines(refusal: Refusal) throws { try check(refusal) }

    @Test("T12 a request with malformed chunks is refused, and the connection closed", arguments: chunks)
    func refusesChunks(refusal: Refusal) throws { try check(refusal) }

    @Test("T17 ambiguous targets and Host fields are refused", arguments: targets)
    func refusesTargets(refusal: Refusal) throws { try check(refusal) }

    @Test("T40 other schemes are refused", arguments: schemes)
    func refusesSchemes(refusal: Refusal) throws { try check(refusal) }

    @Test(
        "T10 to T12 in an intercepted connection the same requests are refused in the same way, and the connection ends",
        arguments: smuggling + lines + chunks)
    func refusesInside(refusal: Refusal) throws {
        let stage = try InterceptingStage(answer: { request, connection in
            connection.readBody(of: request) != nil && connection.respond()
        })
        let client = try stage.secure()
        let request = refusal.request.replacing("http://127.0.0.1:PORT/", with: "/").replacing("http://127.0.0.1/", with: "/")
            .replacing("Host: a\r\n", with: "Host: one.test:\(stage.origin.port)\r\n")
        client.send(request + stage.head("/smuggled"))
        let response = try client.readResponse()
        #expect(response.status == refusal.status)
        if let detail = refusal.detail { #expect(response.detail == detail) }
        #expect(response["Connection"] == "close")
        #expect(client.isClosedByPeer())
        #expect(!stage.origin.requestHeads.contains { $0.contains("/smuggled") })
    }

    private func check(_ refusal: Refusal) throws {
        let stage = try Stage { request, connection in connection.readBody(of: request) != nil && connection.respond() }
        let smuggled = "GET \(stage.url("/smuggled")) HTTP/1.1\r\nHost: a\r\n\r\n"
        let client = try stage.client()
        client.send(refusal.request.replacing("PORT", with: "\(stage.origin.port)") + smuggled)
        let response = try client.readResponse()
        #expect(response.status == refusal.status)
        if let detail = refusal.detail { #expect(response.detail == detail) }
        #expect(response["Connection"] == "close")
        #expect(client.isClosedByPeer())
        #expect(stage.requestCount("/smuggled") == 0)
    }
}
