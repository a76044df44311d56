import Testing

@testable import HTTPMessage
@testable import HTTPWire

@Suite("Request heads (RFC 9112 §2, §3, §5)")
struct RequestParserTests {
    @Test("A request to a proxy is parsed into method, target, version and fields")
    func readsAbsoluteForm() throws {
        let text = "GET http://www.example.com:8080/a/b?c=d HTTP/1.1\r\nHost: www.example.com:8080\r\nX-One:  two \r\n\r\nrest"
        let (head, length) = try Reading.request(text)
        #expect(length == text.utf8.count - 4)
        #expect(head.method == .get)
        #expect(head.fields.text(of: head.methodName) == "GET")
        #expect(head.fields.text(of: head.rawTarget) == "http://www.example.com:8080/a/b?c=d")
        #expect(head.target.form == .absolute)
        #expect(head.fields.text(of: head.target.host) == "www.example.com")
        #expect(head.target.port == 8080)
        #expect(head.fields.text(of: head.target.path) == "/a/b")
        #expect(head.fields.text(of: head.target.query) == "?c=d")
        #expect(head.version == .http11)
        #expect(head.fields.count == 2)
        #expect(head.fields.combinedValue(of: .host) == "www.example.com:8080")
        #expect(head.fields.text(of: head.fields.lines[1].value) == "two")
    }

    @Test("The parser asks for more input until the empty line arrives")
    func asksForMore() throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        for count in 0..<text.utf8.count {
            var parser = RequestParser()
            var head = RequestHead()
            #expect(try parser.parse(Array(text.utf8.prefix(count)).span.bytes, into: &head) == nil)
        }
    }

    @Test("One parser and one head parse the requests of a connection one after another")
    func readsPipelinedRequests() throws {
        var input = Array("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nPOST /22 HTTP/1.1\r\nHost: bb\r\nX: y\r\n\r\n".utf8)
        var parser = RequestParser()
        var head = RequestHead()
        let first = try #require(try parser.parse(input.span.bytes, into: &head))
        #expect(head.fields.text(of: head.rawTarget) == "/1")
        input.removeFirst(first)
        let second = try #require(try parser.parse(input.span.bytes, into: &head))
        #expect(second == input.count)
        #expect(head.method == .post)
        #expect(head.fields.text(of: head.rawTarget) == "/22")
        #expect(head.fields.combinedValue(of: .host) == "bb")
        #expect(head.fields.count == 2)
    }

    @Test("Empty lines before the request line are skipped, up to the limit (RFC 9112 §2.2)")
    func skipsEmptyLines() throws {
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let limit = ParseLimits().leadingEmptyLineCount
        let atLimit = String(repeating: "\r\n", count: limit) + request
        let (head, length) = try Reading.request(atLimit)
        #expect(length == atLimit.utf8.count)
        #expect(head.fields.text(of: head.rawTarget) == "/")
        #expect(throws: RequestParseError.tooManyEmptyLines) { try Reading.request("\r\n" + atLimit) }
    }

    @Test(
        "A field value keeps every allowed byte unchanged (RFC 9110 §5.5)",
        arguments: ["", "a", "a b\tc", "\u{e9}\u{fffd}", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"])
    func keepsValue(value: String) throws {
        let (head, _) = try Reading.request("GET / HTTP/1.1\r\nHost: a\r\nX-Value: \(value)\r\n\r\n")
        #expect(head.fields.text(of: head.fields.lines[1].value) == value)
    }

    @Test("Any token is a valid field name, and any token a valid method")
    func acceptsTokens() throws {
        let token = "!#$%&'*+-.^_`|~09azAZ"
        let (head, _) = try Reading.request("\(token) / HTTP/1.1\r\nHost: a\r\n\(token):x\r\n\r\n")
        #expect(head.method == .other)
        #expect(head.fields.text(of: head.methodName) == token)
        #expect(head.fields.text(of: head.fields.lines[1].name) == token)
    }

    @Test("Every HTTP/1 minor version is accepted, and counts as 1.1 from 1.1 on", arguments: 0...9)
    func acceptsMinorVersions(minor: Int) throws {
        let (head, _) = try Reading.request("GET / HTTP/1.\(minor)\r\nHost: a\r\n\r\n")
        #expect(head.version.minor == minor)
        #expect(head.version.isAtLeast11 == (minor > 0))
    }

    @Test("HTTP/1.0 needs no Host (RFC 9112 §3.2)")
    func acceptsHTTP10WithoutHost() throws {
        _ = try Reading.request("GET http://a/ HTTP/1.0\r\n\r\n")
    }

    @Test(
        "T17 With an absolute-form target any well-formed Host is accepted, also an empty one (RFC 9112 §3.2.2)",
        arguments: ["a", "a:80", "b.example:8080", "[::1]", "[::1]:80", "", "127.0.0.1:1"])
    func ignoresHostOfAbsoluteForm(host: String) throws {
        let (head, _) = try Reading.request("GET http://a/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(head.fields.text(of: head.target.host) == "a")
    }

    // MARK: Refusals

    @Test("T11 A line that two recipients could read differently is rejected", arguments: malformedLines)
    func refusesMalformedLine(row: Refusal) { expectRefused(row) }

    private static let malformedLines: [Refusal] = {
        func head(_ lines: String) -> String { "GET / HTTP/1.1\r\nHost: a\r\n\(lines)" }
        return [
            Refusal("T11 bare LF behind the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", "bare_lf"),
            Refusal("T11 bare LF behind a field", head("A: b\nC: d\r\n\r\n"), "bare_lf"),
            Refusal("T11 bare LF as the empty line", head("\n"), "bare_lf"),
            Refusal("T11 bare LF at the very start", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "bare_lf"),
            Refusal("T11 bare CR in a value", head("A: b\rC: d\r\n\r\n"), "bare_cr"),
            Refusal("T11 bare CR in a name", head("A\rB: d\r\n\r\n"), "bare_cr"),
            Refusal("T11 bare CR in the request line", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", "bare_cr"),
            Refusal("T11 bare CR at the very start", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", "bare_cr"),
            Refusal("T11 CR CR LF", head("A: b\r\r\n\r\n"), "bare_cr"),
            Refusal("T11 obs-fold with a space", head("A: b\r\n c\r\n\r\n"), "obs_fold"),
            Refusal("T11 obs-fold with a tab", head("A: b\r\n\tc\r\n\r\n"), "obs_fold"),
            Refusal("T11 blank before the first field (RFC 9112 §2.2)", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "obs_fold"),
            Refusal("T11 a line of blanks", head(" \r\n\r\n"), "obs_fold"),
            Refusal("T11 space before the colon", head("Content-Length : 5\r\n\r\n"), "blank_before_colon"),
            Refusal("T11 tab before the colon", head("Transfer-Encoding\t: chunked\r\n\r\n"), "blank_before_colon"),
            Refusal("T11 NUL in a value", head("A: b\0c\r\n\r\n"), "nul"),
            Refusal("T11 NUL in a name", head("A\0: b\r\n\r\n"), "nul"),
            Refusal("T11 NUL in the target", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", "nul"),
            Refusal("T11 empty name", head(": b\r\n\r\n"), "empty_field_name"),
            Refusal("T11 no colon", head("Abc\r\n\r\n"), "missing_colon"),
            Refusal("T11 no colon, a blank at the end", head("Abc \r\n\r\n"), "missing_colon"),
            Refusal("T11 a known name without a colon", head("Content-Length\r\n\r\n"), "missing_colon"),
            Refusal("T11 a space within the name", head("A B: c\r\n\r\n"), "illegal_field_name"),
            Refusal("T11 escape in a value", head("A: \u{1B}[2J\r\n\r\n"), "control_octet"),
            Refusal("T11 DEL in a value", head("A: \u{7F}\r\n\r\n"), "control_octet"),
            Refusal("T11 vertical tab before a value", head("Content-Length:\u{B}5\r\n\r\n"), "control_octet"),
            Refusal("T11 form feed in the request line", "GET\u{C}/ HTTP/1.1\r\nHost: a\r\n\r\n", "control_octet"),
            Refusal(
                "T11 a byte above 127 in a name",
                Array("GET / HTTP/1.1\r\nHost: a\r\nA".utf8) + [0xE9] + Array(": b\r\n\r\n".utf8),
                "illegal_field_name"),
        ]
    }()

    @Test(
        "T11 A name with a byte that is not a tchar is rejected",
        arguments: (0...255).map(UInt8.init).filter { !ASCII.isTokenCharacter($0) && $0 != 0x3A })
    func refusesIllegalNameOctet(octet: UInt8) {
        let prefix = Array("GET / HTTP/1.1\r\nHost: a\r\nContent".utf8)
        #expect(throws: RequestParseError.self) {
            try Reading.request(prefix + [octet] + Array("Length: 5\r\n\r\n".utf8))
        }
    }

    @Test("A request line that is not method, target and version with two spaces is rejected", arguments: malformedRequestLines)
    func refusesMalformedRequestLine(row: Refusal) { expectRefused(row) }

    private static let malformedRequestLines: [Refusal] = {
        func request(_ line: String) -> String { "\(line)\r\nHost: a\r\n\r\n" }
        let malformed = "malformed_request_line"
        return [
            Refusal("HTTP/0.9", request("GET /"), malformed),
            Refusal("no target", request("GET HTTP/1.1"), malformed),
            Refusal("an empty target", request("GET  HTTP/1.1"), malformed),
            Refusal("two spaces before the target", request("GET  / HTTP/1.1"), "malformed_target"),
            Refusal("two spaces before the version", request("GET /  HTTP/1.1"), "illegal_octet_in_target"),
            Refusal("a space behind the version", request("GET / HTTP/1.1 "), malformed),
            Refusal("a tab instead of a space", request("GET\t/ HTTP/1.1"), malformed),
            Refusal("a space within the target", request("GET /a b HTTP/1.1"), "illegal_octet_in_target"),
            Refusal("a method that is no token", request("GE(T / HTTP/1.1"), malformed),
            Refusal("a space before the method", request(" GET / HTTP/1.1"), "not_http"),
            Refusal("a TLS hello", [0x16, 0x03, 0x01, 0x02, 0x00], "not_http"),
            Refusal("a SOCKS 5 hello", [0x05, 0x01, 0x00], "not_http"),
            Refusal("a version in small letters", request("GET / http/1.1"), malformed),
            Refusal("a version of two digits", request("GET / HTTP/1.10"), malformed),
            Refusal("a version without a minor number", request("GET / HTTP/1"), malformed),
            Refusal("a version with a comma", request("GET / HTTP/1,1"), malformed),
            Refusal("HTTP/2.0", request("GET / HTTP/2.0"), "unsupported_version", status: 505),
            Refusal("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "unsupported_version", status: 505),
            Refusal("HTTP/0.9 said aloud", request("GET / HTTP/0.9"), "unsupported_version", status: 505),
            Refusal("HTTP/9.9", request("GET / HTTP/9.9"), "unsupported_version", status: 505),
        ]
    }()

    @Test("T17 A request must have exactly one well-formed Host (RFC 9112 §3.2)", arguments: badHosts)
    func refusesBadHost(row: Refusal) { expectRefused(row) }

    private static let badHosts: [Refusal] = {
        func request(_ fields: String, target: String = "/", version: String = "1.1") -> String {
            "GET \(target) HTTP/\(version)\r\n\(fields)\r\n"
        }
        let malformed = "malformed_host_field"
        return [
            Refusal("T17 no Host", request(""), "missing_host"),
            Refusal("T17 no Host with an absolute-form target", request("", target: "http://a/"), "missing_host"),
            Refusal("T17 two Hosts", request("Host: a\r\nHost: b\r\n"), "repeated_host"),
            Refusal("T17 the same Host twice", request("Host: a\r\nA: b\r\nhost: a\r\n"), "repeated_host"),
            Refusal("T17 two Hosts, absolute form", request("Host: a\r\nHost: a\r\n", target: "http://a/"), "repeated_host"),
            Refusal("T17 two Hosts, HTTP/1.0", request("Host: a\r\nHost: a\r\n", version: "1.0"), "repeated_host"),
            Refusal("T17 an empty Host", request("Host:\r\n"), malformed),
            Refusal("T17 a list", request("Host: a, b\r\n"), malformed),
            Refusal("T17 a space", request("Host: a b\r\n"), malformed),
            Refusal("T17 userinfo", request("Host: u@a\r\n"), malformed),
            Refusal("T17 a path", request("Host: a/b\r\n"), malformed),
            Refusal("T17 a port that is none", request("Host: a:http\r\n"), malformed),
            Refusal("T17 a port above 65535", request("Host: a:65536\r\n"), malformed),
            Refusal("T17 a malformed one with absolute form", request("Host: a b\r\n", target: "http://a/"), malformed),
            Refusal("T17 a malformed one in HTTP/1.0", request("Host: a b\r\n", version: "1.0"), malformed),
            Refusal("T17 percent-encoded", request("Host: a%00b\r\n"), malformed),
        ]
    }()

    @Test("Only CONNECT may omit Host: its target names the authority", arguments: ["1.1", "1.0"])
    func acceptsConnectWithoutHost(version: String) throws {
        let (head, _) = try Reading.request("CONNECT a.test:443 HTTP/\(version)\r\n\r\n")
        #expect(head.method == .connect && head.target.form == .authority)
        #expect(String(decoding: head.fields.bytes[head.target.host.range], as: UTF8.self) == "a.test")
        expectRefused(
            Refusal("two Hosts", "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n", "repeated_host"))
        expectRefused(Refusal("a malformed Host", "CONNECT a.test:443 HTTP/1.1\r\nHost: a b\r\n\r\n", "malformed_host_field"))
    }

    private func expectRefused(_ row: Refusal) {
        do {
            _ = try Reading.request(row.octets)
            Issue.record("accepted")
        } catch let error as RequestParseError {
            #expect("\(error.reason)" == row.reason)
            #expect(error.status.code == row.status)
        } catch {
            Issue.record("\(error)")
        }
    }

    // MARK: Limits

    @Test("A request line may be as long as the limit; one byte more gives 414")
    func limitsRequestLine() throws {
        var limits = ParseLimits()
        limits.requestLineLength = 40
        func request(_ length: Int) -> String {
            "GET /" + String(repeating: "a", count: length - 14) + " HTTP/1.1\r\nHost: a\r\n\r\n"
        }
        _ = try Reading.request(request(40), limits: limits)
        let error = #expect(throws: RequestParseError.self) { try Reading.request(request(41), limits: limits) }
        #expect(error == .requestLineTooLong)
        #expect(error?.status.code == 414)
        // Reported before the end of the line arrives.
        #expect(throws: RequestParseError.requestLineTooLong) {
            try Reading.request(String(request(60).prefix(41)), limits: limits)
        }
    }

    @Test("The default limit allows the 8,000 bytes that RFC 9112 §3 recommends")
    func acceptsLongRequestLine() throws {
        _ = try Reading.request("GET /" + String(repeating: "a", count: 8000) + " HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    @Test("T37 A head may be as long as the limit; one byte more gives 431")
    func limitsHead() throws {
        var limits = ParseLimits()
        limits.headLength = 100
        func request(_ length: Int) -> String {
            let start = "GET / HTTP/1.1\r\nHost: a\r\nA: "
            return start + String(repeating: "b", count: length - start.utf8.count - 4) + "\r\n\r\n"
        }
        _ = try Reading.request(request(100), limits: limits)
        let error = #expect(throws: RequestParseError.self) { try Reading.request(request(101), limits: limits) }
        #expect(error == .headTooLarge)
        #expect(error?.status.code == 431)
    }

    @Test("T37 The default limit for a head is 64 KiB")
    func limitsHeadByDefault() throws {
        let start = "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "
        let fits = start + String(repeating: "1", count: 65536 - start.utf8.count - 4) + "\r\n\r\n"
        _ = try Reading.request(fits)
        #expect(throws: RequestParseError.headTooLarge) { try Reading.request(start + String(repeating: "1", count: 65536)) }
    }

    @Test("T37 A head may have as many fields as the limit; one more gives 431")
    func limitsFieldCount() throws {
        func request(_ count: Int) -> String {
            "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "A: b\r\n", count: count - 1) + "\r\n"
        }
        #expect(try Reading.request(request(100)).0.fields.count == 100)
        let error = #expect(throws: RequestParseError.self) { try Reading.request(request(101)) }
        #expect(error == .tooManyFields)
        #expect(error?.status.code == 431)
    }
}
