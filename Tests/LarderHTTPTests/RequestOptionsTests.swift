import HTTPCaching
import HTTPSerialization
import ResponseStore
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: options of one request, credentials without a challenge, purges and cookies by hand")
struct RequestOptionsTests {
    private static func origin() -> ScriptedOrigin {
        ScriptedOrigin.answering { request, connection in
            guard connection.readBody(of: request) != nil else { return false }
            switch request.target {
            case "/moved": return connection.respond("302 Found", fields: "Location: /\r\n")
            case "/busy": return connection.respond("503 No")
            default:
                let fields = "Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n"
                return connection.respond(fields: fields, body: request["Cookie"] ?? request["Authorization"] ?? "-")
            }
        }
    }

    @Test("Redirects, retries, interceptors, cookies and the cache obey the options of one request")
    func obeysOptions() async throws {
        struct Refusing: RequestInterceptor {
            func adapt(_ request: SessionRequest) async throws -> SessionRequest { throw SessionError(.badURL) }
        }
        let origin = Self.origin()
        defer { origin.stop() }
        let session = try HTTPSession.plain {
            $0.cookies = CookieJar()
            $0.cache = MemoryResponseCache()
        }
        func send(_ path: String, _ change: (inout RequestOptions) -> Void) async throws -> SessionResponse {
            var request = SessionRequest(.get, origin.uri(path))
            change(&request.options)
            return try await session.send(request)
        }
        #expect(try await send("/moved") { $0.redirects = .deliver }.status == 302)
        var retries = RetryPolicy.standard
        retries.delay = .zero
        let busy = try await send("/busy") { $0.retries = retries }
        #expect(busy.metrics.retryCount == retries.limit)
        let refused = try await HTTPSession.failure { try await send("/") { $0.interceptors = [Refusing()] } }
        #expect(refused.code == .badURL)
        #expect(try await send("/1") { $0.usesCookies = false }.cache?.isStored == true)
        #expect(session.configuration.cookies?.all.isEmpty == true)
        #expect(try await send("/2") { $0.willCache = { _ in .drop } }.cache?.isStored == false)
        #expect(try await send("/1") { $0.isOffline = true }.cache?.isHit == true)
        #expect(try await HTTPSession.failure { try await send("/3") { $0.isOffline = true } }.code == .offline)
        let bare = try HTTPSession.plain()
        for change: (inout RequestOptions) -> Void in [{ $0.usesCookies = true }, { $0.willCache = { _ in .drop } }] {
            var request = SessionRequest(.get, origin.uri())
            change(&request.options)
            let asked = request
            let error = try await HTTPSession.failure { try await bare.send(asked) }
            #expect(error.code == .malformedRequest)
        }
    }

    @Test("Preemptive Basic is sent without a challenge to its origin alone, and without TLS only if that is allowed")
    func sendsBasicUnasked() async throws {
        let (origin, other) = (Self.origin(), Self.origin())
        defer {
            origin.stop()
            other.stop()
        }
        let entry = ChallengePolicy.Entry.preemptive(
            host: "127.0.0.1", port: UInt16(origin.port), credential: .password(user: "a", password: "b"))
        func text(_ allowsPlaintext: Bool, _ uri: String) async throws -> String {
            try await HTTPSession.plain {
                $0.authentication.credentials = [entry]
                $0.authentication.allowsPlaintext = allowsPlaintext
            }.get(uri).text
        }
        #expect(try await text(true, origin.uri()) == "Basic YTpi")
        #expect(try await text(false, origin.uri()) == "-")
        #expect(try await text(true, other.uri()) == "-")
    }

    @Test("A cache is purged by URL and as a whole, and a jar's cookies are made, read, removed and kept in a file")
    func purgesAndKeeps() async throws {
        let folder = try TemporaryFolder()
        let origin = Self.origin()
        defer { origin.stop() }
        let caches: [any ResponseCaching] = [MemoryResponseCache(), try FileResponseCache(path: folder.path("s.sqlite"))]
        for cache in caches {
            let session = try HTTPSession.plain { $0.cache = cache }
            let first = try await session.get(origin.uri("/a"))
            _ = try await session.get(origin.uri("/b"))
            #expect(await cache.remove(first.uri))
            #expect(try await session.get(origin.uri("/a")).cache?.isHit == false)
            #expect(try await session.get(origin.uri("/b")).cache?.isHit == true)
            #expect(await cache.removeAll())
            #expect(await cache.statistics().responses == 0)
            #expect(try await session.get(origin.uri("/b")).cache?.isHit == false)
        }
        let uri = try TargetURI("https://example.com/x")
        let cookie = try #require(Cookie("a", "1", for: uri, expires: 99_999_999_999))
        #expect(Cookie("a", "1;2", for: uri) == nil && Cookie("a b", "1", for: uri) == nil)
        let jar = CookieJar()
        jar.set(cookie)
        #expect(jar.cookies(for: uri).map(\.value) == ["1"])
        try jar.write(to: folder.path("jar"))
        let again = try CookieJar(file: folder.path("jar"))
        #expect(again.all.map(\.name) == ["a"] && again.remove(cookie) && again.all.isEmpty)
        #expect(try CookieJar(file: folder.path("none")).all.isEmpty)
    }
}
