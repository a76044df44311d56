import CLarderLinux
import EventLoop
import Glibc
import HTTPMessage
import ProxyServer
import Synchronization
import TestSupport
import Testing

@testable import ProxyAdmin

@Suite("Access to the page (T05 to T07)")
struct PageAccessTests {
    /// A page's server with the test's routes, on a free port.
    final class Served {
        let access: PageAccess
        let port: UInt16
        let unused = Atomic(0)
        private let server: AdminServer

        init(_ limits: PageAccess.Limits = PageAccess.Limits(), unused milliseconds: Int = 900_000) throws {
            let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
            port = socket.address.port
            access = PageAccess(host: "127.0.0.1", port: port, pseudonym: "larder-1", limits: limits)
            var admin = AdminLimits.ofPage
            admin.unused = milliseconds
            // A test keeps an incomplete request open.
            admin.request = 600_000
            let routes = [
                AdminRoute(
                    .get, "/v1/hello", .read,
                    parameters: [AdminParameter("who"), AdminParameter("secrets", .words(["shown"]), isForSocket: true)]
                ) { $1.answer(text: "hello \($0["who"] ?? "you")\n") },
                AdminRoute(.get, "/v1/things/*", .read) { $1.answer(text: "\($0.path)\n") },
                AdminRoute(.post, "/v1/change", .change) { $1.answer(text: "changed\n") },
                AdminRoute(.post, "/v1/stop", .socket) { $1.answer(text: "stopped\n") },
            ]
            let noted = Noted()
            self.noted = noted
            server = try AdminServer(page: socket, access: access, routes: routes, limits: admin, unused: { noted.note() })
        }

        let noted: Noted

        deinit { server.stop() }

        func ask(_ request: String) throws -> ReceivedResponse {
            let client = try RawClient(port: port)
            client.send(request)
            return try client.readResponse()
        }

        /// - Parameter host: the Host field; `nil` for the page's own.
        func send(
            _ method: String = "GET", _ target: String, host: String? = nil, cookie: String? = nil, _ fields: String = ""
        ) throws -> ReceivedResponse {
            let cookie = cookie.map { "Cookie: \($0)\r\n" } ?? ""
            let length = method == "POST" ? "Content-Length: 0\r\n" : ""
            return try ask(
                "\(method) \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\n\(cookie)\(length)\(fields)\r\n")
        }

        /// The target of a new link.
        func link() -> String {
            let url = access.makeLink(at: .read()).url
            return String(url.dropFirst("http://127.0.0.1:\(port)".count))
        }

        /// Opens a new link, and returns the cookie as a browser sends it.
        func session() throws -> String {
            let response = try send("GET", link())
            #expect(response.status == 303)
            return String(try #require(response["Set-Cookie"]).prefix { $0 != ";" })
        }
    }

    /// Counts the calls of `unused`.
    final class Noted: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func note() { count.wrappingAdd(1, ordering: .relaxed) }
    }

    private func code(_ response: ReceivedResponse) -> String {
        let text = response.text
        guard let start = text.range(of: "\"code\": \"") else { return "" }
        return String(text[start.upperBound...].prefix { $0 != "\"" })
    }

    @Test("A request that came through this Larder gets 508, with a cookie too, and one through another proxy is examined")
    func loops() throws {
        let served = try Served()
        let cookie = try served.session()
        for via in ["1.1 larder-1", "1.1 a.example, 1.1 Larder-1 (x)", "1.1 larder-1, 1.1 b"] {
            let response = try served.send("GET", "/v1/hello", cookie: cookie, "Via: \(via)\r\n")
            #expect(response.status == 508 && response.text.contains("loop_detected"))
        }
        #expect(try served.send("GET", "/v1/hello", cookie: cookie, "Via: 1.1 larder-2\r\n").status == 200)
    }

    @Test("A link works once: it sets the cookie of the session, and redirects to an address without the token")
    func opensOnce() throws {
        let served = try Served()
        let link = served.link()
        #expect(link.hasPrefix("/open?token=") && link.utf8.count == "/open?token=".utf8.count + 64)
        let first = try served.send("GET", link, "Sec-Fetch-Site: none\r\n")
        #expect(first.status == 303 && first["Location"] == "/")
        let cookie = try #require(first["Set-Cookie"])
        #expect(cookie.hasPrefix("larder-page-\(served.port)=") && cookie.hasSuffix("; HttpOnly; SameSite=Strict; Path=/"))
        let second = try served.send("GET", link)
        #expect(second.status == 403 && code(second) == "bad_token" && second["Set-Cookie"] == nil)
        let pair = String(cookie.prefix { $0 != ";" })
        #expect(try served.send("GET", "/v1/hello", cookie: pair).text == "hello you\n")
        #expect(try served.send("GET", "/v1/hello", cookie: "other=1; \(pair)").status == 200)
        #expect(try served.session() != pair)
    }

    @Test("A link that is too old does not work")
    func linksExpire() throws {
        var limits = PageAccess.Limits()
        limits.linkLifetime = 0
        let served = try Served(limits)
        #expect(code(try served.send("GET", served.link())) == "bad_token")
    }

    @Test(
        "No path is served without the cookie of a session",
        arguments: [
            "/", "/page.js", "/page.css", "/v1/hello", "/v1/things/1", "/v1/nothing", "/open?token=", "/open?token=abc",
            "/favicon.ico",
        ])
    func needsSession(path: String) throws {
        let served = try Served()
        let right = try served.session()
        let name = "larder-page-\(served.port)"
        let wrong = right.dropLast() + (right.hasSuffix("0") ? "1" : "0")
        for cookie in [nil, "\(name)=", "\(name)=\(String(repeating: "0", count: 64))", String(wrong), "larder-page-1=x"] {
            let response = try served.send("GET", path, cookie: cookie)
            #expect(response.status == 403 && !response.text.contains("hello"), "\(cookie ?? "no cookie")")
        }
    }

    @Test(
        "A request with another Host is refused, even with the cookie",
        arguments: [
            "attacker.example", "127.0.0.1", "localhost", "127.0.0.1:1", "localhost.attacker.example:PORT", "127.0.0.1.:PORT",
            "127.1:PORT", "0.0.0.0:PORT", "[::ffff:127.0.0.1]:PORT", "2130706433:PORT", "larder", "user@127.0.0.1:PORT",
        ])
    func refusesForeignHosts(host: String) throws {
        let served = try Served()
        let cookie = try served.session()
        let host = host.replacing("PORT", with: "\(served.port)")
        for target in ["/v1/hello", "/", served.link()] {
            let response = try served.send("GET", target, host: host, cookie: cookie)
            #expect(response.status == 403 || response.status == 400, "\(target)")
            #expect(response["Set-Cookie"] == nil)
        }
    }

    @Test("Each of the page's own names is accepted", arguments: ["127.0.0.1", "localhost", "[::1]", "LocalHost"])
    func acceptsOwnNames(name: String) throws {
        let served = try Served()
        let cookie = try served.session()
        #expect(try served.send("GET", "/v1/hello", host: "\(name):\(served.port)", cookie: cookie).status == 200)
    }

    @Test(
        "A request from another web page is refused, even with the cookie",
        arguments: [
            "Origin: http://attacker.example\r\n", "Origin: null\r\n", "Origin: http://127.0.0.1:1\r\n",
            "Origin: https://127.0.0.1:PORT\r\n", "Origin: http://localhost:PORT\r\n", "Sec-Fetch-Site: cross-site\r\n",
            "Sec-Fetch-Site: same-site\r\n", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n",
            "Origin: http://127.0.0.1:PORT\r\nOrigin: http://attacker.example\r\n",
        ])
    func refusesPages(fields: String) throws {
        let served = try Served()
        let cookie = try served.session()
        let fields = fields.replacing("PORT", with: "\(served.port)")
        for target in ["/v1/hello", "/", served.link()] {
            let response = try served.send("GET", target, cookie: cookie, fields)
            #expect(response.status == 403 && code(response) == "cross_site", "\(target)")
        }
    }

    @Test("A request that changes something needs the page's own Origin and the field X-Larder")
    func guardsChanges() throws {
        let served = try Served()
        let cookie = try served.session()
        let origin = "Origin: http://127.0.0.1:\(served.port)\r\n"
        for fields in [
            "", origin, "X-Larder: 1\r\n", origin + "X-Larder: 0\r\n", "Origin: http://attacker.example\r\nX-Larder: 1\r\n",
            origin + "X-Larder: 1\r\nSec-Fetch-Site: cross-site\r\n",
        ] {
            let response = try served.send("POST", "/v1/change", cookie: cookie, fields)
            #expect(response.status == 403 && code(response) == "cross_site", "\(fields)")
        }
        #expect(try served.send("POST", "/v1/change", cookie: nil, origin + "X-Larder: 1\r\n").status == 403)
        let changed = try served.send("POST", "/v1/change", cookie: cookie, origin + "X-Larder: 1\r\n")
        #expect(changed.status == 200 && changed.text == "changed\n")
        for method in ["PUT", "DELETE", "OPTIONS"] {
            #expect(try served.send(method, "/v1/change", cookie: cookie).status == 403)
        }
    }

    @Test("Routes and parameters that are only for the admin socket do not exist on the page")
    func hidesSocketRoutes() throws {
        let served = try Served()
        let cookie = try served.session()
        let own = "Origin: http://127.0.0.1:\(served.port)\r\nX-Larder: 1\r\n"
        #expect(try served.send("POST", "/v1/stop", cookie: cookie, own).status == 404)
        let secrets = try served.send("GET", "/v1/hello?secrets=shown", cookie: cookie)
        #expect(secrets.status == 400 && code(secrets) == "unknown_parameter")
        #expect(try served.send("GET", "/v1/things/a", cookie: cookie).text == "/v1/things/a\n")
        for path in ["/v1/things/", "/v1/things", "/v1/things/a/b", "//v1/hello", "/v1/hello/"] {
            #expect(try served.send("GET", path, cookie: cookie).status == 404, "\(path)")
        }
    }

    @Test("A target in absolute form or for a tunnel is refused")
    func refusesOtherTargets() throws {
        let served = try Served()
        let cookie = try served.session()
        let own = "127.0.0.1:\(served.port)"
        for line in ["GET http://\(own)/v1/hello", "CONNECT \(own)", "OPTIONS *"] {
            let response = try served.ask("\(line) HTTP/1.1\r\nHost: \(own)\r\nCookie: \(cookie)\r\n\r\n")
            #expect(response.status == 400 || response.status == 403, "\(line)")
        }
    }

    @Test("Every response forbids foreign scripts, frames, sniffing and storing", arguments: ["/", "/v1/hello", "/nothing"])
    func sendsProtectingFields(path: String) throws {
        let served = try Served()
        for cookie in [nil, try served.session()] {
            let response = try served.send("GET", path, cookie: cookie)
            #expect(
                response["Content-Security-Policy"]
                    == "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )
            #expect(response["X-Content-Type-Options"] == "nosniff" && response["Referrer-Policy"] == "no-referrer")
            #expect(response["Cross-Origin-Opener-Policy"] == "same-origin" && response["Cache-Control"] == "no-store")
            #expect(response["Cross-Origin-Resource-Policy"] == "same-origin")
        }
    }

    @Test("After too many wrong tokens, Larder examines no more tokens for a while; open sessions continue")
    func limitsGuesses() throws {
        var limits = PageAccess.Limits()
        limits.wrongGuesses = 3
        let served = try Served(limits)
        let cookie = try served.session()
        for _ in 0..<3 { #expect(code(try served.send("GET", "/open?token=00")) == "bad_token") }
        let right = try served.send("GET", served.link())
        #expect(right.status == 429 && code(right) == "too_many_guesses" && right["Set-Cookie"] == nil)
        #expect(try served.send("GET", "/v1/hello", cookie: cookie).status == 200)
        let name = "larder-page-\(served.port)"
        for status in [403, 403, 403, 429] {
            #expect(try served.send("GET", "/v1/hello", cookie: "\(name)=00").status == status)
        }
        #expect(try served.send("GET", "/v1/hello", cookie: cookie).status == 200)
    }

    @Test("Guesses are counted for a period, and a right token works after it")
    func forgetsGuesses() {
        var limits = PageAccess.Limits()
        limits.wrongGuesses = 2
        let access = PageAccess(host: "127.0.0.1", port: 1, limits: limits)
        let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
        func token(at now: MonotonicTime) -> String { String(access.makeLink(at: now).url.suffix(64)) }
        for _ in 0..<2 { #expect(access.open("00", at: start).judgement == .wrong) }
        #expect(access.open(token(at: start), at: start.advanced(milliseconds: 59_999)).judgement == .tooMany)
        let later = start.advanced(milliseconds: 60_000)
        #expect(access.open(token(at: later), at: later).judgement == .admitted)
    }

    @Test("Links and sessions are bounded: the oldest give way; a session ends after a time without a request")
    func isBounded() {
        var limits = PageAccess.Limits()
        (limits.links, limits.sessions, limits.sessionIdle) = (2, 2, 1000)
        let access = PageAccess(host: "[::1]", port: 1, limits: limits)
        let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
        func at(_ milliseconds: Int) -> MonotonicTime { start.advanced(milliseconds: milliseconds) }
        let links = (0..<3).map { _ in access.makeLink(at: start).url }
        #expect(links.allSatisfy { $0.hasPrefix("http://[::1]:1/open?token=") } && Set(links).count == 3)
        let tokens = links.map { String($0.suffix(64)) }
        #expect(access.open(tokens[0], at: start).judgement == .wrong)
        let first = access.open(tokens[1], at: at(1)).cookie
        let second = access.open(tokens[2], at: at(2)).cookie
        #expect(access.judge(cookies: [first], at: at(3)) == .admitted)
        let third = access.open(String(access.makeLink(at: at(4)).url.suffix(64)), at: at(4)).cookie
        #expect(access.judge(cookies: [second], at: at(5)) == .wrong)
        #expect(access.judge(cookies: [first], at: at(6)) == .admitted)
        #expect(access.judge(cookies: [third], at: at(1004)) == .wrong)
        #expect(access.judge(cookies: [first], at: at(1005)) == .admitted)
    }

    @Test("The listener reports that it was not used, but not while a client is connected, and again after the last one left")
    func reportsNoUse() throws {
        let served = try Served(unused: 1)
        try eventually { served.noted.value >= 1 }
        let client = try RawClient(port: served.port)
        client.send("GET /v1/hello HTTP/1.1\r\n")
        // Another client's response shows that the server has accepted the first one.
        _ = try served.send("GET", "/v1/hello")
        let before = served.noted.value
        for _ in 0..<20 { _ = try served.send("GET", "/v1/hello") }
        #expect(served.noted.value == before)
        client.close()
        try eventually { served.noted.value > before }
    }
}
