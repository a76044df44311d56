import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

/// Answers `/301/to/there` with 301 to `/there`, and any other request with its method, target and some of its fields.
private func redirecting(to authority: @escaping @Sendable () -> String? = { nil }) -> ScriptedOrigin {
    ScriptedOrigin.answering { request, connection in
        guard let body = connection.readBody(of: request) else { return false }
        let parts = request.target.split(separator: "/", maxSplits: 2)
        if parts.count == 3, let status = Int(parts[0]), parts[1] == "to" {
            let place = (authority().map { "http://" + $0 } ?? "") + "/" + parts[2]
            return connection.respond("\(status) Elsewhere", fields: "Location: \(place)\r\n", body: "moved")
        }
        let fields = ["Authorization", "Cookie", "Content-Type", "X-Own"].compactMap { name in
            request[name].map { "\(name)=\($0)" }
        }
        return connection.respond(
            body: "\(request.method) \(request.target) [\(String(decoding: body, as: UTF8.self))] \(fields)")
    }
}

@Suite("HTTPSession: redirects (RFC 9110 §15.4)")
struct RedirectTests {
    @Test(
        "Method and content follow the redirect as its status requires",
        arguments: [
            (301, HTTPMethod.post, "GET /x [] "), (302, .post, "GET /x [] "), (303, .post, "GET /x [] "),
            (307, .post, "POST /x [abc] "),
            (308, .post, "POST /x [abc] "), (301, .put, "PUT /x [abc] "), (303, .put, "GET /x [] "),
            (302, .delete, "DELETE /x [abc] "),
        ] as [(Int, HTTPMethod, String)])
    func rewrites(status: Int, method: HTTPMethod, expected: String) async throws {
        let origin = redirecting()
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let request = SessionRequest(
            method, origin.uri("/\(status)/to/x"), fields: ["Content-Type": "text/plain"], body: .octets(Array("abc".utf8)))
        let response = try await session.send(request)
        let type = expected.contains("abc") ? "[\"Content-Type=text/plain\"]" : "[]"
        #expect(response.text == expected + type)
        #expect(response.uri.path == "/x")
        #expect(response.metrics.redirectCount == 1)
        #expect(response.metrics.exchanges.map(\.status) == [status, 200])
        #expect(origin.connectionCount == 1)
    }

    @Test("With a limit of five redirects the policy is asked five times, and the sixth fails")
    func counts() async throws {
        let origin = redirecting()
        defer { origin.stop() }
        let asked = SentCount()
        let session = try HTTPSession.plain {
            $0.redirects = RedirectPolicy(atMost: 5) { redirect in
                asked.add(1)
                return redirect.hop == (asked.value - 1) % 5 ? .follow : .refuse("out of order")
            }
        }
        let five = String(repeating: "/302/to", count: 5) + "/x"
        #expect(try await session.send(SessionRequest(.get, origin.uri(five))).uri.path == "/x")
        #expect(asked.value == 5)
        let error = try await HTTPSession.failure { try await session.send(SessionRequest(.get, origin.uri("/302/to" + five))) }
        #expect(error.code == .tooManyRedirects)
        #expect(error.response?.status == 302)
        #expect(session.turns.counts.active == 0)
    }

    @Test("Authorization and Cookie are sent only to the same origin")
    func dropsCredentials() async throws {
        let other = redirecting()
        let authority = "127.0.0.1:\(other.port)"
        let origin = redirecting(to: { authority })
        defer {
            origin.stop()
            other.stop()
        }
        let session = try HTTPSession.plain()
        let fields: SessionFields = ["Authorization": "Bearer s", "Cookie": "a=b", "X-Own": "1"]
        let away = try await session.send(SessionRequest(.get, origin.uri("/302/to/x"), fields: fields))
        #expect(away.text == "GET /x [] [\"X-Own=1\"]")
        let within = try await session.send(SessionRequest(.get, other.uri("/302/to/x"), fields: fields))
        #expect(within.text == "GET /x [] [\"Authorization=Bearer s\", \"Cookie=a=b\", \"X-Own=1\"]")
    }

    @Test("Each redirect policy takes effect: deliver, deny, same site, rewrite; a Location that is not an http URI is refused")
    func obeysPolicies() async throws {
        let origin = redirecting()
        let far = ScriptedOrigin.answering { request, connection in
            connection.respond(
                "302 Found", fields: "Location: \(request.target == "/ftp" ? "ftp://h/" : "http://other.test/")\r\n")
        }
        defer {
            origin.stop()
            far.stop()
        }
        let delivering = try HTTPSession.plain { $0.redirects = .deliver }
        #expect(try await delivering.send(SessionRequest(.get, origin.uri("/302/to/x"))).status == 302)
        let denying = try HTTPSession.plain { $0.redirects = .deny }
        let denied = try await HTTPSession.failure { try await denying.send(SessionRequest(.get, origin.uri("/302/to/x"))) }
        #expect(denied.code == .redirectRefused)
        let staying = try HTTPSession.plain { $0.redirects = .sameSite() }
        #expect(try await staying.send(SessionRequest(.get, origin.uri("/302/to/x"))).status == 200)
        for path in ["/far", "/ftp"] {
            let error = try await HTTPSession.failure { try await staying.send(SessionRequest(.get, far.uri(path))) }
            #expect(error.code == .redirectRefused)
        }
        let rewriting = try HTTPSession.plain {
            $0.redirects = RedirectPolicy { redirect in
                var request = redirect.request
                request.target += "?rewritten"
                return .rewrite(request)
            }
        }
        #expect(try await rewriting.send(SessionRequest(.get, origin.uri("/302/to/x"))).text.hasPrefix("GET /x?rewritten"))
    }

    @Test("Content that cannot be replayed is not sent again, and the redirect's body does not delay the next exchange")
    func doesNotReplay() async throws {
        let origin = redirecting()
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let stream = AsyncStream<[UInt8]> { continuation in
            continuation.yield([65])
            continuation.finish()
        }
        let error = try await HTTPSession.failure {
            try await session.send(SessionRequest(.post, origin.uri("/307/to/x"), body: .stream(BodyStream(stream))))
        }
        #expect(error.code == .redirectRefused)
        let opened = try await session.open(SessionRequest(.get, origin.uri("/302/to/x")))
        #expect(try await opened.body.collect(atMost: 100) == Array("GET /x [] []".utf8))
    }
}
