import Testing

@testable import HTTPMessage

@Suite("Requests inside a tunnel (RFC 9110 §7.4, §15.5.20)")
struct TunnelAuthorityTests {
    private static func tunnel(
        _ host: String = "One.test", _ kind: RequestTarget.HostKind = .name, scheme: RequestTarget.Scheme = .https,
        port: UInt16 = 443
    ) -> TunnelAuthority {
        TunnelAuthority(scheme: scheme, host: Array(host.utf8), kind: kind, port: port)
    }

    private static func head(
        _ target: String, method: Method = .get, host: String? = "one.test", version: HTTPVersion = .http11
    ) throws -> RequestHead {
        var head = RequestHead()
        head.method = method
        head.version = version
        head.rawTarget = head.fields.appendBytes(Array(target.utf8).span)
        head.target = try RequestTarget(parsing: head.rawTarget.range, in: head.fields.bytes.span, method: method)
        if let host { head.fields.append(name: Array("Host".utf8).span, value: Array(host.utf8).span) }
        return head
    }

    private static func text(_ head: RequestHead, _ extent: Extent) -> String { head.fields.text(of: extent) }

    @Test(
        "A path becomes the complete URL, as a client of a proxy would have sent it",
        arguments: [
            ("/a/b?c=d", "https://one.test/a/b?c=d"), ("/", "https://one.test/"), ("/?", "https://one.test/?"),
            ("/x|y", "https://one.test/x|y"),
        ])
    func resolves(path: String, url: String) throws {
        var head = try Self.head(path)
        try head.resolve(in: Self.tunnel())
        #expect(Self.text(head, head.rawTarget) == url)
        let parsed = try RequestTarget(parsing: 0..<url.utf8.count, in: Array(url.utf8).span, method: .get)
        #expect(head.target.form == .absolute && head.target.scheme == .https && head.target.port == 443)
        for part in [\RequestTarget.host, \.path, \.query] {
            let range = parsed[keyPath: part].range
            #expect(Self.text(head, head.target[keyPath: part]) == String(decoding: Array(url.utf8)[range], as: UTF8.self))
        }
    }

    @Test(
        "The URL includes a port other than the default, and addresses",
        arguments: [
            (tunnel("::1", .ipv6, port: 8443), "[::1]:8443", "https://[::1]:8443/a"),
            (tunnel("10.0.0.1", .ipv4, scheme: .http, port: 80), "10.0.0.1", "http://10.0.0.1/a"),
            (tunnel(scheme: .http, port: 443), "one.test:443", "http://one.test:443/a"),
        ])
    func writesAuthority(tunnel: TunnelAuthority, host: String, url: String) throws {
        var head = try Self.head("/a", host: host)
        try head.resolve(in: tunnel)
        #expect(Self.text(head, head.rawTarget) == url)
    }

    @Test(
        "A Host field may spell the address in another form, and the URL has the tunnel's",
        arguments: [
            ("203.0.113.7", RequestTarget.HostKind.ipv4, "[::ffff:203.0.113.7]", "https://203.0.113.7/a"),
            ("203.0.113.7", .ipv4, "[::FFFF:cb00:7107]:443", "https://203.0.113.7/a"),
            ("2001:db8::1", .ipv6, "[2001:DB8:0:0::1]", "https://[2001:db8::1]/a"),
            // Other addresses, also those that embed it in a form that the kernel does not connect to as IPv4.
            ("203.0.113.7", .ipv4, "[::ffff:203.0.113.8]", nil), ("203.0.113.7", .ipv4, "[64:ff9b::203.0.113.7]", nil),
            ("203.0.113.7", .ipv4, "[::ffff:203.0.113.7]:80", nil), ("2001:db8::1", .ipv6, "[2001:db8::2]", nil),
            ("one.test", .name, "[::ffff:203.0.113.7]", nil),
        ] as [(String, RequestTarget.HostKind, String, String?)])
    func comparesAddresses(host: String, kind: RequestTarget.HostKind, field: String, url: String?) throws {
        var head = try Self.head("/a", host: field)
        do throws(MisdirectedRequest) {
            try head.resolve(in: Self.tunnel(host, kind))
            #expect(Self.text(head, head.rawTarget) == url)
        } catch { #expect(url == nil, "\(field)") }
    }

    @Test("OPTIONS for the whole server has no path")
    func resolvesAsterisk() throws {
        var head = try Self.head("*", method: .options)
        try head.resolve(in: Self.tunnel())
        #expect(Self.text(head, head.rawTarget) == "https://one.test" && head.target.path.isEmpty)
    }

    @Test(
        "A misdirected request is logged with the tunnel's origin, and its meaning does not change",
        arguments: [
            ("/a?b=c", Method.get, "https://one.test/a?b=c", "https://one.test/a"),
            ("/", .get, "https://one.test/", "https://one.test/"),
            ("*", .options, "https://one.test", "https://one.test"),
            ("https://two.test/a?b", .get, "https://two.test/a?b", "https://two.test/a"),
        ])
    func namesMisdirected(target: String, method: Method, url: String, withoutQuery: String) throws {
        var head = try Self.head(target, method: method, host: "two.test")
        let form = head.target.form
        head.nameOrigin(of: Self.tunnel())
        #expect(Self.text(head, head.rawTarget) == url && Self.text(head, head.rawTargetBeforeQuery) == withoutQuery)
        #expect(head.target.form == form && Self.text(head, head.target.host) == (form == .absolute ? "two.test" : ""))
    }

    @Test(
        "The Host field must name the tunnel's origin (T17)",
        arguments: [
            ("ONE.TEST", true), ("one.test:443", true), ("one.test.", true), ("two.test", false), ("one.test:80", false),
            ("one.test:8443", false), ("", false), ("one.test.evil", false), ("user@one.test", false),
        ])
    func comparesHost(host: String, isSame: Bool) throws {
        var head = try Self.head("/", host: host)
        if isSame {
            try head.resolve(in: Self.tunnel())
        } else {
            #expect(throws: MisdirectedRequest.authority) { try head.resolve(in: Self.tunnel()) }
        }
    }

    @Test("An HTTP/1.0 request without Host is for the tunnel's origin")
    func resolvesWithoutHost() throws {
        var head = try Self.head("/", host: nil, version: .http10)
        try head.resolve(in: Self.tunnel())
        #expect(Self.text(head, head.rawTarget) == "https://one.test/")
        var other = try Self.head("/", host: nil)
        #expect(throws: MisdirectedRequest.authority) { try other.resolve(in: Self.tunnel()) }
    }

    @Test(
        "An absolute target must have the tunnel's origin, and agree with the Host field",
        arguments: [
            ("https://one.test/a", "one.test", true), ("https://one.test:443/a", "one.test", true),
            ("http://one.test/a", "one.test", false), ("https://two.test/a", "two.test", false),
            ("https://one.test/a", "two.test", false), ("https://one.test:444/a", "one.test:444", false),
        ])
    func comparesTarget(target: String, host: String, isSame: Bool) throws {
        var head = try Self.head(target, host: host)
        if isSame {
            try head.resolve(in: Self.tunnel())
            #expect(Self.text(head, head.rawTarget) == target)
        } else {
            #expect(throws: MisdirectedRequest.authority) { try head.resolve(in: Self.tunnel()) }
        }
    }

    @Test("CONNECT inside a tunnel is rejected")
    func refusesConnect() throws {
        var head = try Self.head("one.test:443", method: .connect)
        #expect(throws: MisdirectedRequest.tunnelInTunnel) { try head.resolve(in: Self.tunnel()) }
    }
}
