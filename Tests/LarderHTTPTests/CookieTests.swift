import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: cookies (RFC 6265)")
struct CookieTests {
    private static let now = Timestamp(seconds: 1_790_000_000)

    private static func jar(_ uri: String, _ cookies: String...) throws -> CookieJar {
        let jar = CookieJar()
        var fields = SessionFields()
        for cookie in cookies { fields.append("Set-Cookie", cookie) }
        jar.store(fields, from: try TargetURI(uri), at: now)
        return jar
    }

    @Test(
        "A cookie is sent only to the hosts, paths and schemes that it was set for",
        arguments: [
            ("http://a.example.com/x/y", "n=v", "http://a.example.com/x/z", "n=v"),
            ("http://a.example.com/x/y", "n=v", "http://a.example.com/xy", nil),
            ("http://a.example.com/x/y", "n=v", "http://a.example.com/", nil),
            ("http://a.example.com/", "n=v", "http://b.a.example.com/", nil),
            ("http://a.example.com/", "n=v", "http://example.com/", nil),
            ("http://a.example.com/", "n=v; Domain=example.com", "http://b.example.com/", "n=v"),
            ("http://a.example.com/", "n=v; Domain=.Example.com", "http://example.com/", "n=v"),
            ("http://a.example.com/", "n=v; Domain=other.com", "http://other.com/", nil),
            ("http://a.example.com/", "n=v; Domain=ample.com", "http://ample.com/", nil),
            ("http://a.example.com/", "n=v; Domain=com", "http://b.com/", nil),
            ("http://a.co.uk/", "n=v; Domain=co.uk", "http://b.co.uk/", nil),
            ("http://me.github.io/", "n=v; Domain=github.io", "http://you.github.io/", nil),
            ("http://127.0.0.1/", "n=v; Domain=0.0.1", "http://127.0.0.1/", nil),
            ("http://127.0.0.1/", "n=v", "http://127.0.0.1:81/", "n=v"),
            ("https://h.test/", "n=v; Secure", "https://h.test/", "n=v"),
            ("https://h.test/", "n=v; Secure", "http://h.test/", nil),
            ("http://h.test/", "n=v; Secure", "https://h.test/", nil),
            ("http://h.test/", "n=v; Path=/a", "http://h.test/a/b", "n=v"),
            ("http://h.test/", "n=v; Path=/a", "http://h.test/ab", nil),
            ("http://h.test/", "n=v; Path=a", "http://h.test/", "n=v"),
            ("https://h.test/", "__Host-n=v; Secure; Path=/", "https://h.test/", "__Host-n=v"),
            ("https://h.test/", "__Host-n=v; Secure; Path=/; Domain=h.test", "https://h.test/", nil),
            ("https://h.test/", "__secure-n=v", "https://h.test/", nil), ("http://h.test/", "=v", "http://h.test/", nil),
            ("http://h.test/", "nothing", "http://h.test/", nil),
            ("http://h.test/", "n=\"a b\"; x; =; HttpOnly", "http://h.test/", "n=\"a b\""),
            ("http://h.test/", "n=v; Max-Age=0", "http://h.test/", nil),
            ("http://h.test/", "n=v; Max-Age=-1", "http://h.test/", nil),
            ("http://h.test/", "n=v; Max-Age=99999999999999999999", "http://h.test/", "n=v"),
            ("http://h.test/", "n=v; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "http://h.test/", nil),
            ("http://h.test/", "n=v; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Max-Age=60", "http://h.test/", "n=v"),
            ("http://h.test/", "n=v; Expires=whenever", "http://h.test/", "n=v"),
            ("http://h.test/", "n=a\u{1}b", "http://h.test/", nil),
        ] as [(String, String, String, String?)])
    func belongs(from: String, cookie: String, to: String, expected: String?) throws {
        #expect(try Self.jar(from, cookie).value(for: TargetURI(to), at: Self.now) == expected)
    }

    @Test("Cookies with longer paths come first, then older ones; setting one again keeps its place; expired ones are dropped")
    func orders() throws {
        let jar = try Self.jar("http://h.test/a/b", "one=1; Path=/", "two=2; Path=/a", "three=3; Path=/a/b", "four=4; Max-Age=10")
        let uri = try TargetURI("http://h.test/a/b")
        #expect(jar.value(for: uri, at: Self.now)?.hasPrefix("three=3; ") == true)
        #expect(jar.value(for: uri, at: Self.now.advanced(seconds: 10))?.contains("four") == false)
        jar.store(["Set-Cookie": "two=0; Path=/a; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], from: uri, at: Self.now)
        #expect(jar.value(for: uri, at: Self.now)?.contains("two") == false)
    }

    @Test(
        "Cookie dates are parsed with their parts in any order",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("08:49:37 6 nov 94", 784_111_777), ("6 Nov 1994", nil),
            ("30 Feb 2000 00:00:00", nil), ("29 Feb 2000 00:00:00", 951_782_400), ("1 Jan 1600 00:00:00", nil),
            ("1 Jan 2000 24:00:00", nil),
            ("1 Jan 69 00:00:00", 3_124_224_000), ("1 Jan 70 00:00:00", 0),
        ] as [(String, Int64?)])
    func readsDates(text: String, seconds: Int64?) { #expect(CookieDate.parse(text) == seconds) }

    @Test("A jar limits the cookies for each domain and in total, and evicts the least recently used ones")
    func evicts() throws {
        var limits = CookieJar.Limits()
        limits.cookiesPerDomain = 3
        limits.cookies = 5
        let one = CookieJar(limits: limits)
        let many = CookieJar(limits: limits)
        for number in 0..<7 {
            let time = Self.now.advanced(seconds: Int64(number))
            one.store(["Set-Cookie": "n\(number)=v"], from: try TargetURI("http://a.test/"), at: time)
            many.store(["Set-Cookie": "n=v"], from: try TargetURI("http://h\(number).test/"), at: time)
        }
        #expect(one.value(for: try TargetURI("http://a.test/"), at: Self.now) == "n4=v; n5=v; n6=v")
        let left = try (0..<7).filter { many.value(for: try TargetURI("http://h\($0).test/"), at: Self.now) != nil }
        #expect(left == [2, 3, 4, 5, 6])
    }

    @Test("Only a session with a jar stores and sends cookies, also across redirects; a request's own Cookie is not replaced")
    func usesJar() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            if request.target == "/set" {
                return connection.respond(
                    "302 Found", fields: "Set-Cookie: a=1\r\nSet-Cookie: b=2; Max-Age=60\r\nLocation: /get\r\n")
            }
            return connection.respond(body: request["Cookie"] ?? "none")
        }
        defer { origin.stop() }
        let plain = try HTTPSession.plain()
        #expect(try await plain.send(SessionRequest(.get, origin.uri("/set"))).text == "none")
        let jar = CookieJar()
        let session = try HTTPSession.plain { $0.cookies = jar }
        #expect(try await session.send(SessionRequest(.get, origin.uri("/set"))).text == "a=1; b=2")
        #expect(try await session.send(SessionRequest(.get, origin.uri("/get"), fields: ["Cookie": "own=1"])).text == "own=1")
        #expect(jar.all.map(\.name) == ["a", "b"])
        jar.removeSessionCookies()
        #expect(CookieJar(jar.all).all.map(\.name) == ["b"])
    }

    @Test("A site is identified by its registrable domain")
    func knowsSites() {
        #expect(PublicSuffixes.registrableDomain(of: "a.b.example.co.uk") == "example.co.uk")
        #expect(PublicSuffixes.registrableDomain(of: "co.uk") == nil)
    }

    /// libpsl points into the host that it was given. AddressSanitizer sees it if those bytes are read after they are freed.
    @Test("The registrable domain of a long host is copied before the host is freed")
    func copiesRegistrableDomain() {
        for number in 0..<200 {
            let host = "host-\(number).a-subdomain-of-some-length.example.co.uk"
            #expect(PublicSuffixes.registrableDomain(of: host) == "example.co.uk")
        }
    }
}
