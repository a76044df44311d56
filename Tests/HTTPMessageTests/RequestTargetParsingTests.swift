import HTTPMessage
import Testing

@Suite("Request target (RFC 9112 §3.2)")
struct RequestTargetParsingTests {
    private struct Parts: Equatable {
        var form: RequestTarget.Form
        var host = ""
        var port: UInt16 = 80
        var path = ""
        var query = ""
    }

    private func parse(
        _ text: String, method: HTTPMessage.Method = .get
    ) throws(RequestTargetError) -> (parts: Parts, target: RequestTarget) {
        let bytes = Array(">\(text)<".utf8)
        let target = try RequestTarget(parsing: 1..<bytes.count - 1, in: bytes.span, method: method)
        func part(_ extent: Extent) -> String { String(decoding: bytes[extent.range], as: UTF8.self) }
        let parts = Parts(
            form: target.form, host: part(target.host), port: target.port, path: part(target.path), query: part(target.query))
        return (parts, target)
    }

    @Test("The absolute form names scheme, host, port, path and query")
    func readsAbsoluteForm() throws {
        #expect(
            try parse("http://a:81/b/c?d=e?f").parts
                == Parts(form: .absolute, host: "a", port: 81, path: "/b/c", query: "?d=e?f"))
        #expect(try parse("http://a").parts == Parts(form: .absolute, host: "a"))
        #expect(try parse("http://a?b").parts == Parts(form: .absolute, host: "a", query: "?b"))
        #expect(try parse("http://a:/").parts == Parts(form: .absolute, host: "a", path: "/"))
        #expect(try parse("http://[::1]:8/").parts == Parts(form: .absolute, host: "::1", port: 8, path: "/"))
        #expect(try parse("HtTp://A/").target.scheme == .http)
    }

    @Test("An https target without a port has port 443")
    func readsHTTPS() throws {
        #expect(try parse("https://a/").target.scheme == .https)
        #expect(try parse("https://a/").target.port == 443)
        #expect(try parse("https://a:80/").target.port == 80)
    }

    @Test("The other forms are accepted with the methods that allow them")
    func readsOtherForms() throws {
        #expect(try parse("/b?c").parts == Parts(form: .origin, path: "/b", query: "?c"))
        #expect(try parse("//b").parts == Parts(form: .origin, path: "//b"))
        #expect(try parse("*", method: .options).parts == Parts(form: .asterisk))
        #expect(try parse("a:443", method: .connect).parts == Parts(form: .authority, host: "a", port: 443))
        #expect(try parse("[::1]:1", method: .connect).parts == Parts(form: .authority, host: "::1", port: 1))
    }

    @Test(
        "Characters that clients send in spite of RFC 3986, and that all recipients read alike, are forwarded",
        arguments: [
            "/a|b", "/a[1]", "/a^b`{c}", "/\u{e9}", "/a?b\\c", "/a?%00", "/%zz", "/a%", "/?a?b", "/..;/a", "/a%2f..", "/'\"<>",
            "/a%0",
        ])
    func acceptsOddOctets(text: String) throws {
        let parts = try parse(text).parts
        #expect(parts.path + parts.query == text)
        _ = try parse("http://a" + text)
    }

    @Test(
        "T17 T40 Any other target is rejected with its reason",
        arguments: [
            ("", .malformed), ("a", .malformed), ("a/b", .malformed), ("example.com", .malformed), ("?a", .malformed),
            ("http:", .malformed), ("http:/", .malformed), ("http:/a", .malformed), ("http:a", .malformed),
            ("://a/", .malformed), ("1http://a/", .malformed), ("#", .malformed),
            ("*", .formNotAllowed), ("a:443", .formNotAllowed),
            ("ftp://a/", .unsupportedScheme), ("gopher://a/", .unsupportedScheme), ("urn:a", .unsupportedScheme),
            ("file:///etc/passwd", .unsupportedScheme), ("ws://a/", .unsupportedScheme), ("javascript:a", .unsupportedScheme),
            ("httpx://a/", .unsupportedScheme), ("httpss://a/", .unsupportedScheme),
            ("http://", .authority(.emptyHost)), ("http:///a", .authority(.emptyHost)), ("http://?a", .authority(.emptyHost)),
            ("http://:80/", .authority(.emptyHost)), ("http://u@a/", .authority(.userinfo)),
            ("http://u:p@a/", .authority(.userinfo)), ("http://a@b@c/", .authority(.userinfo)),
            ("http://good\\@evil/", .authority(.userinfo)), ("http://good\\evil/", .authority(.malformedHost)),
            ("http://good%00.evil/", .authority(.malformedHost)), ("http://a:x/", .authority(.malformedPort)),
            ("http://a#b", .fragment), ("http://a/#b", .fragment), ("/a#b", .fragment), ("/a?b#c", .fragment),
            ("/a\\b", .backslash), ("http://a/..\\b", .backslash), ("/a%00", .nul), ("http://a/%00b", .nul),
            ("/a b", .illegalOctet), ("/a?b c", .illegalOctet), ("/a\tb", .illegalOctet), ("/\u{7F}", .illegalOctet),
            ("http://a/ b", .illegalOctet),
        ] as [(String, RequestTargetError)])
    func refuses(text: String, fault: RequestTargetError) {
        #expect(throws: fault) { try parse(text) }
        // At every position in a block of sixteen bytes.
        if fault == .fragment || fault == .backslash || fault == .nul || fault == .illegalOctet, text.hasPrefix("/") {
            for padding in 1...40 {
                #expect(throws: fault) { try parse("/" + String(repeating: "a", count: padding) + text) }
                #expect(throws: fault) { try parse(text + String(repeating: "a", count: padding)) }
            }
        }
    }

    @Test(
        "CONNECT requires the authority form with a port (RFC 9110 §9.3.6)",
        arguments: [
            ("a", .authority(.malformedPort)), ("a:", .authority(.malformedPort)), ("a:0", .authority(.malformedPort)),
            ("a:99999", .authority(.malformedPort)), (":443", .authority(.emptyHost)), ("u@a:443", .authority(.userinfo)),
            ("/", .formNotAllowed), ("http://a/", .formNotAllowed), ("a:443/", .formNotAllowed), ("a:443?b", .formNotAllowed),
            ("*", .authority(.malformedHost)), ("", .malformed),
        ] as [(String, RequestTargetError)])
    func refusesConnect(text: String, fault: RequestTargetError) {
        #expect(throws: fault) { try parse(text, method: .connect) }
    }
}
