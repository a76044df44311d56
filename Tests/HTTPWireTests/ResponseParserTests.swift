import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("Response heads (RFC 9112 §4, §5)")
struct ResponseParserTests {
    @Test("A response is parsed into version, status, reason and fields")
    func readsHead() throws {
        let text = "HTTP/1.1 200 All is well\r\nDate: x\r\nServer:y\r\n\r\nbody"
        let (head, length) = try Reading.response(text)
        #expect(length == text.utf8.count - 4)
        #expect(head.status == .ok)
        #expect(head.fields.text(of: head.reason) == "All is well")
        #expect(head.version == .http11)
        #expect(head.fields.combinedValue(of: .server) == "y")
    }

    @Test(
        "The reason phrase may be empty or missing",
        arguments: ["HTTP/1.1 200 \r\n\r\n", "HTTP/1.1 200\r\n\r\n", "HTTP/1.0 200  \r\n\r\n"])
    func acceptsNoReason(text: String) throws {
        #expect(try Reading.response(text).0.status == .ok)
    }

    @Test("Status codes of all classes, and higher ones, are accepted", arguments: [100, 199, 299, 418, 599, 999])
    func acceptsStatus(code: Int) throws {
        #expect(try Int(Reading.response("HTTP/1.1 \(code) X\r\n\r\n").0.status.code) == code)
    }

    @Test("T11 Whitespace before a colon is removed from the name (§5.1)", arguments: [" ", "\t", " \t "])
    func removesBlanksBeforeColon(blanks: String) throws {
        let (head, _) = try Reading.response("HTTP/1.1 200 X\r\nETag\(blanks): a\r\nX-Own\(blanks):b\r\n\r\n")
        #expect(head.fields.combinedValue(of: .etag) == "a")
        #expect(head.fields.lines.map { head.fields.text(of: $0.name) } == ["ETag", "X-Own"])
    }

    @Test("T10 Content-Length is removed from a response without content", arguments: [100, 103, 204, 304])
    func dropsContentLength(code: Int) throws {
        let (head, _) = try Reading.response("HTTP/1.1 \(code) X\r\nContent-Length: 5\r\nETag: a\r\n\r\n")
        #expect(!head.fields.contains(.contentLength))
        #expect(head.fields.contains(.etag))
    }

    @Test(
        "Equal lengths are merged into one (RFC 9110 §8.6)",
        arguments: ["Content-Length: 7, 7\r\n", "Content-Length: 7\r\nContent-Length: 7\r\n", "Content-Length: 7,\r\n"])
    func settlesEqualLengths(fields: String) throws {
        let (head, _) = try Reading.response("HTTP/1.1 200 X\r\n\(fields)ETag: a\r\n\r\n")
        #expect(head.fields.combinedValue(of: .contentLength) == "7")
        #expect(head.fields.count == 2)
    }

    @Test("One parser parses an informational response and the final one")
    func readsInformational() throws {
        var input = Array("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 404 X\r\n\r\n".utf8)
        var parser = ResponseParser()
        var head = ResponseHead()
        let first = try #require(try parser.parse(input.span.bytes, into: &head))
        #expect(head.status.isInformational)
        input.removeFirst(first)
        #expect(try parser.parse(input.span.bytes, into: &head) == input.count)
        #expect(head.status == Status(404))
        #expect(head.fields.isEmpty)
    }

    @Test("T39 An invalid response is rejected with its own reason", arguments: refused)
    func refuses(row: Refusal) {
        let error = #expect(throws: ResponseParseError.self) {
            try Reading.response(String(decoding: row.octets, as: UTF8.self))
        }
        #expect(error.map { "\($0.reason)" } == row.reason)
    }

    private static let refused: [Refusal] = {
        func head(_ lines: String) -> String { "HTTP/1.1 200 OK\r\nA: b\r\n\(lines)\r\n" }
        return [
            Refusal("T39 HTTP/0.9", "<html>hello</html>", "not_http"),
            Refusal("T39 HTTP/0.9 that starts alike", "HTTPS", "not_http"),
            Refusal("T39 one octet of something else", "S", "not_http"),
            Refusal("T39 ICY", "ICY 200 OK\r\n\r\n", "not_http"),
            Refusal("T39 SSH", "SSH-2.0-OpenSSH\r\n", "not_http"),
            Refusal("T39 small letters", "http/1.1 200 OK\r\n\r\n", "not_http"),
            Refusal("T39 an empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n", "not_http"),
            Refusal("T39 HTTP/2 without a minor number", "HTTP/2 200\r\n\r\n", "malformed_status_line"),
            Refusal("T39 HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n", "unsupported_version"),
            Refusal("T39 HTTP/0.9 said aloud", "HTTP/0.9 200 OK\r\n\r\n", "unsupported_version"),
            Refusal("T39 no status", "HTTP/1.1\r\n\r\n", "malformed_status_line"),
            Refusal("T39 a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "malformed_status_line"),
            Refusal("T39 a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "malformed_status_line"),
            Refusal("T39 a status of letters", "HTTP/1.1 2OO OK\r\n\r\n", "malformed_status_line"),
            Refusal("T39 a status below 100", "HTTP/1.1 099 OK\r\n\r\n", "malformed_status_line"),
            Refusal("T39 a sign", "HTTP/1.1 +20 OK\r\n\r\n", "malformed_status_line"),
            Refusal("T39 two spaces", "HTTP/1.1  200 OK\r\n\r\n", "malformed_status_line"),
            Refusal("T16 a control in the reason", "HTTP/1.1 200 O\u{1}K\r\n\r\n", "control_octet"),
            Refusal("T16 a bare CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", "bare_cr"),
            Refusal("T11 bare LF", "HTTP/1.1 200 OK\nA: b\r\n\r\n", "bare_lf"),
            Refusal("T11 bare LF behind a field", head("A: b\n"), "bare_lf"),
            Refusal("T11 bare CR", head("A: b\rc\r\n"), "bare_cr"),
            Refusal("T11 NUL", head("A: b\0\r\n"), "nul"),
            Refusal("T11 obs-fold", head(" c\r\n"), "obs_fold"),
            Refusal("T11 empty name", head(": c\r\n"), "empty_field_name"),
            Refusal("T11 a blank for a name", head(" : c\r\n"), "obs_fold"),
            Refusal("T11 no colon", head("c\r\n"), "missing_colon"),
            Refusal("T11 illegal name", head("c(d): e\r\n"), "illegal_field_name"),
            Refusal("T11 two words before the colon", head("c d: e\r\n"), "illegal_field_name"),
        ]
    }()

    @Test("A status line may be as long as the limit")
    func limitsStatusLine() throws {
        var limits = ParseLimits()
        limits.statusLineLength = 20
        _ = try Reading.response("HTTP/1.1 200 1234567\r\n\r\n", limits: limits)
        #expect(throws: ResponseParseError.statusLineTooLong) {
            try Reading.response("HTTP/1.1 200 12345678\r\n\r\n", limits: limits)
        }
    }

    @Test("T39 Endless fields are rejected at the limits of the head")
    func limitsHead() throws {
        let fields = String(repeating: "A: b\r\n", count: 100)
        _ = try Reading.response("HTTP/1.1 200 OK\r\n\(fields)\r\n")
        #expect(throws: ResponseParseError.tooManyFields) { try Reading.response("HTTP/1.1 200 OK\r\n\(fields)A: b\r\n\r\n") }
        let start = "HTTP/1.1 200 OK\r\nA: "
        _ = try Reading.response(start + String(repeating: "b", count: 65536 - start.utf8.count - 4) + "\r\n\r\n")
        #expect(throws: ResponseParseError.headTooLarge) {
            try Reading.response(start + String(repeating: "b", count: 65536 - start.utf8.count - 3) + "\r\n\r\n")
        }
    }
}
