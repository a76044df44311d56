import HTTPCaching
import HTTPMessage
import HTTPWire
import Testing

@testable import ProxyCore

@Suite("Requests that are refused or answered locally")
struct RefusalTests {
    private let own = ExchangeContext(
        rules: .empty,
        ownAddresses: [ExchangeContext.OwnAddress(hosts: [Array("localhost".utf8), Array("127.0.0.1".utf8)], port: 3180)])

    @Test(
        "T47: a request that has passed through this proxy is refused with 508",
        arguments: [
            "1.1 larder", "1.0 other, 1.1 larder", "1.1 LARDER (a comment)", "1.1 a,HTTP/1.1  larder,1.1 b",
        ])
    func loopByVia(via: String) throws {
        let book = try Playbook()
        try book.run(.request("GET http://a.example/x", "Via: \(via)"), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 508)
        #expect(book.written?["proxy-status"]?.contains("error=proxy_loop_detected") == true)
    }

    @Test("A Via that only resembles our own is not a loop", arguments: ["1.1 larder2", "larder 1.1", "1.1 other (larder)"])
    func otherVia(via: String) throws {
        let book = try Playbook()
        try book.run(.request("GET http://a.example/x", "Via: \(via)"), [.lookUp(onDisk: false)])
    }

    @Test(
        "T47, T07: a request to ourselves is refused with 508, tunnels too",
        arguments: [
            "GET http://localhost:3180/", "GET http://127.0.0.1:3180/x", "GET http://LocalHost:3180/", "CONNECT localhost:3180",
            "OPTIONS http://localhost:3180", "TRACE http://localhost:3180/",
        ])
    func loopByAddress(line: String) throws {
        let book = Playbook(context: own)
        try book.run(.request(line, "Max-Forwards: 0"), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 508)
    }

    @Test("Another port of this machine is an ordinary destination")
    func otherPort() throws {
        let book = Playbook(context: own)
        try book.run(.request("GET http://localhost:3181/"), [.lookUp(onDisk: false)])
    }

    @Test(
        "A request in origin form gets an error saying that this is a proxy, except for our own pages",
        arguments: [
            "GET /x", "GET /", "GET /proxy.pac?x", "GET /proxy.pac/", "GET /Proxy.pac", "GET //proxy.pac", "GET /%70roxy.pac",
            "POST /proxy.pac", "OPTIONS /proxy.pac", "DELETE /ca.pem", "PURGE /proxy.pac", "GET /ca.key", "GET /ca",
            "TRACE /ca.der",
        ])
    func originForm(line: String) throws {
        let book = Playbook(context: own)
        try book.run(.request(line, "Host: localhost:3180"), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 400)
        #expect(try JSONBody(#require(book.written).body)["code"] == "not_a_proxy_request")
    }

    @Test("https in absolute form is handled like http, with its own port")
    func secureOrigin() throws {
        let book = try Playbook()
        try book.run(.request("GET https://a.example/x"), [.lookUp(onDisk: false)], .found([]), [.joinFetch], .leads, [.fetch])
        #expect(String(decoding: book.exchange.key, as: UTF8.self) == "https://a.example:443/x")
        #expect(book.exchange.originPort == 443)
        #expect(book.forwarded("host") == "a.example")
    }

    @Test("T17: the target determines key and origin, whatever Host says; a setting refuses such requests")
    func hostMismatch() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://A.example:8080/x", "Host: evil.example"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch])
        #expect(String(decoding: book.exchange.key, as: UTF8.self) == "http://a.example:8080/x")
        #expect(book.forwarded("host") == "A.example:8080")
        #expect(book.exchange.originHost == Array("a.example".utf8))
        #expect(book.exchange.originPort == 8080)
        for (host, isRefused) in [
            ("evil.example", true), ("a.example:8080", false), ("A.EXAMPLE:8080", false), ("a.example", true),
        ] {
            let strict = Playbook(context: ExchangeContext(rules: .empty, hostMismatch: .deny))
            try strict.run(
                .request("GET http://a.example:8080/x", "Host: \(host)"), isRefused ? [.sendError] : [.lookUp(onDisk: false)])
            if isRefused { #expect(strict.written?.status == 403) }
        }
    }

    @Test("T34: tunnels are only opened to allowed ports, and rules apply to them")
    func tunnelPorts() throws {
        for (port, isAllowed) in [("443", true), ("80", true), ("25", false), ("22", false), ("8443", false)] {
            let book = try Playbook()
            try book.run(.request("CONNECT a.example:\(port)"), isAllowed ? [.openTunnel] : [.sendError])
            if !isAllowed { #expect(try JSONBody(#require(book.written).body)["code"] == "port_not_allowed") }
        }
        let any = Playbook(context: ExchangeContext(rules: .empty, tunnelPorts: .any))
        try any.run(.request("CONNECT a.example:25"), [.openTunnel])
        let listed = Playbook(context: ExchangeContext(rules: .empty, tunnelPorts: .listed([8443])))
        try listed.run(.request("CONNECT a.example:443"), [.sendError])
    }

    @Test("A tunnel is opened, relayed and ended; one that cannot be opened gives an error")
    func tunnel() throws {
        let book = try Playbook()
        try book.run(
            .request("CONNECT a.example:443"), [.openTunnel],
            .tunnelOpened, [.splice],
            .delivered, [.finish])
        #expect(book.exchange.trace.outcome == .tunnel)
        let refused = try Playbook()
        try refused.run(
            .request("CONNECT a.example:443"), [.openTunnel],
            .tunnelRefused(.tunnelRefused(reason: "d")), [],
            .tunnelOpened, [.splice],
            .tunnelRefused(.tunnelRefused(reason: "d")), [.finish],
            .delivered, [])
        #expect(refused.exchange.trace.outcome == .denied && refused.exchange.trace.status == 200)
        let failing = try Playbook()
        try failing.run(
            .request("CONNECT a.example:443"), [.openTunnel],
            .fails(.destinationProhibited), [.sendError],
            .tunnelOpened, [],
            .delivered, [.finish])
        #expect(failing.written?.status == 403)
    }

    @Test("An unknown expectation is refused with 417 (RFC 9110 §10.1.1)", arguments: ["200-ok", "100-continue, x", ""])
    func expectation(value: String) throws {
        let book = try Playbook()
        try book.run(.request("POST http://a.example/x", "Content-Length: 1", "Expect: \(value)"), [.sendError])
        #expect(book.written?.status == 417)
        #expect(book.written?["connection"] == "close")
    }

    @Test("100-continue is forwarded to the origin", arguments: ["100-continue", "100-Continue"])
    func continues(value: String) throws {
        let book = try Playbook()
        try book.run(.request("POST http://a.example/x", "Content-Length: 1", "Expect: \(value)"), [.fetch])
        #expect(book.forwarded("expect") == value)
    }

    @Test("T37: a body whose declared length exceeds the limit is refused before it is read")
    func bodyLimit() throws {
        var limits = ProxyLimits()
        limits.requestBodyLength = 10
        for (length, isRefused) in [(10, false), (11, true)] {
            let book = Playbook(context: ExchangeContext(rules: .empty, limits: limits))
            try book.run(.request("POST http://a.example/x", "Content-Length: \(length)"), isRefused ? [.sendError] : [.fetch])
            if isRefused { #expect(book.written?.status == 413) }
        }
        let late = Playbook(context: ExchangeContext(rules: .empty, limits: limits))
        try late.run(
            .request("POST http://a.example/x", "Transfer-Encoding: chunked"), [.fetch],
            .fails(.requestBodyTooLarge), [.sendError],
            .delivered, [.finish])
        #expect(late.written?.status == 413)
    }

    @Test(
        "T41: bytes that are not a valid request get an error response, however much of the head was parsed",
        arguments: [
            "GET http://a.example/x HTTP/1.1\r\nAccept: text/html\r\nBad Name: 1\r\n\r\n",
            "GET http://a.example/x HTTP/1.1\r\nAccept: text/html\r\n\r\n",
            "HEAD http://a.example/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n",
            "GET http://user:secret@a.example/ HTTP/1.1\r\nHost: a\r\n\r\n", "\u{16}\u{3}\u{1}", "GET",
            "GET ftp://a/ HTTP/1.1\r\n",
        ])
    func rejected(text: String) throws {
        let book = try Playbook()
        var parser = RequestParser()
        do throws(RequestParseError) { _ = try parser.parse(Array(text.utf8).span.bytes, into: &book.exchange.request) } catch {}
        try book.run(
            .event { .requestRejected(.malformedRequest(detail: "illegal_field_name"), at: $0) }, [.sendError],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == 400)
        #expect(head["connection"] == "close")
        #expect(!String(decoding: head.body, as: UTF8.self).contains("secret"))
    }

    @Test("OPTIONS for the server as a whole is answered locally (RFC 9110 §9.3.7)")
    func optionsOfTheServer() throws {
        let book = try Playbook()
        try book.run(.request("OPTIONS *"), [.sendLocal], .delivered, [.finish])
        #expect(book.written?.status == 200)
        #expect(book.written?["content-length"] == "0")
        #expect(book.written?["allow"]?.contains("CONNECT") == true)
        let passedOn = try Playbook()
        try passedOn.run(.request("OPTIONS http://a.example"), [.fetch])
        #expect(passedOn.forwarded.map { $0.target.form } == .asterisk)
    }

    @Test("Max-Forwards is decremented for OPTIONS and TRACE, and 0 is answered locally (RFC 9110 §7.6.2)")
    func maxForwards() throws {
        for method in ["OPTIONS", "TRACE"] {
            let last = try Playbook()
            try last.run(.request("\(method) http://a.example/x", "Max-Forwards: 0"), [.sendLocal], .delivered, [.finish])
            let more = try Playbook()
            try more.run(.request("\(method) http://a.example/x", "Max-Forwards: 10"), [.fetch])
            #expect(more.forwarded("max-forwards") == "9")
        }
        let other = try Playbook()
        try other.run(.request("POST http://a.example/x", "Max-Forwards: 0"), [.fetch])
        #expect(other.forwarded("max-forwards") == "0")
        for (great, left) in [("1000000000", "999999999"), ("99999999999999999999", "999999999"), ("00000000000012", "11")] {
            let book = try Playbook()
            try book.run(.request("TRACE http://a.example/x", "Max-Forwards: \(great)"), [.fetch])
            #expect(book.forwarded("max-forwards") == left)
        }
        for nonsense in ["x", "", "-1"] {
            let book = try Playbook()
            try book.run(.request("OPTIONS http://a.example/x", "Max-Forwards: \(nonsense)"), [.fetch])
        }
    }

    @Test("TRACE returns the request without its credentials (RFC 9110 §9.3.8)")
    func trace() throws {
        let book = try Playbook()
        try book.run(
            .request(
                "TRACE http://a.example/x", "Max-Forwards: 0", "Cookie: secret=1", "Authorization: Basic secret",
                "Proxy-Authorization: Basic secret", "X-Seen: 1"), [.sendLocal],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head["content-type"] == "message/http")
        let text = String(decoding: head.body, as: UTF8.self)
        #expect(text.hasPrefix("TRACE http://a.example/x HTTP/1.1\r\n"))
        #expect(text.contains("X-Seen: 1"))
        #expect(!text.contains("secret"))
    }
}
