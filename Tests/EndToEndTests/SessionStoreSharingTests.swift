import HTTPCaching
import LarderHTTP
import ResponseStore
import ServerTrust
import TestSupport
import Testing

@Suite("One store file for the proxy and for a session of the library")
struct SessionStoreSharingTests {
    private static let paths = ["/small", "/large", "/varies", "/private"]

    private static func origin(_ large: [UInt8]) -> ScriptedOrigin {
        ScriptedOrigin.answering { request, connection in
            let fields = "ETag: \"e\"\r\nCache-Control: max-age=600\(request.target == "/private" ? ", private" : "")\r\n"
            if request["If-None-Match"] == "\"e\"" { return connection.respond("304 Not Modified", fields: fields) }
            guard request.target == "/large" else {
                let vary = request.target == "/varies" ? "Vary: X-Kind\r\n" : ""
                return connection.respond(fields: fields + vary, body: "\(request.target) \(request["X-Kind"] ?? "")")
            }
            connection.send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(large.count)\r\n\r\n")
            return connection.send(bytes: large)
        }
    }

    private static func session(_ cache: any ResponseCaching) throws -> HTTPSession {
        var configuration = SessionConfiguration()
        configuration.cache = cache
        return try HTTPSession(configuration: configuration, trust: .policies(TrustPolicySet([], fallback: .deny)))
    }

    private static func fetch(
        _ path: String, from origin: ScriptedOrigin, through proxy: TestProxy, fields: String = ""
    ) throws -> ReceivedResponse {
        let client = try RawClient(port: proxy.port)
        let authority = "127.0.0.1:\(origin.port)"
        client.send("GET http://\(authority)\(path) HTTP/1.1\r\nHost: \(authority)\r\nX-Kind: a\r\n\(fields)\r\n")
        return try client.readResponse()
    }

    @Test("The proxy serves responses that a session stored, except private ones")
    func servesProxy() async throws {
        let large = PatternBytes.make(6 << 20, seed: 1)
        let origin = Self.origin(large)
        defer { origin.stop() }
        let folder = try TestFolder()
        let cache = try FileResponseCache(path: "\(folder.path)/store.sqlite")
        let session = try Self.session(cache)
        for path in Self.paths {
            let body = try await session.open(
                SessionRequest(.get, "http://127.0.0.1:\(origin.port)\(path)", fields: ["X-Kind": "a"])
            ).body
            _ = try await body.collect(atMost: .max)
        }
        await session.shutdown(.cancel)
        cache.close()
        #expect(origin.requestHeads.count == 4)

        let proxy = try TestProxy(storePath: nil, folder: folder)
        defer { proxy.stop() }
        for path in Self.paths.dropLast() {
            let hit = try Self.fetch(path, from: origin, through: proxy)
            #expect(hit.cacheStatus.contains("; hit"), "\(path): \(hit.cacheStatus)")
            #expect(hit.body == (path == "/large" ? large : Array("\(path) a".utf8)))
        }
        let part = try Self.fetch("/large", from: origin, through: proxy, fields: "Range: bytes=5000000-5000009\r\n")
        #expect(part.status == 206 && part.body == Array(large[5_000_000...5_000_009]))
        #expect(origin.requestHeads.count == 4)
        #expect(!(try Self.fetch("/private", from: origin, through: proxy).cacheStatus.contains("; hit")))
    }

    @Test("A session serves and validates responses that the proxy stored")
    func servesSession() async throws {
        let large = PatternBytes.make(6 << 20, seed: 2)
        let origin = Self.origin(large)
        defer { origin.stop() }
        let folder = try TestFolder()
        let proxy = try TestProxy(storePath: nil, folder: folder)
        for path in Self.paths.dropLast() { _ = try Self.fetch(path, from: origin, through: proxy) }
        proxy.stop()
        #expect(origin.requestHeads.count == 3)

        let cache = try FileResponseCache(path: "\(folder.path)/store.sqlite")
        let session = try Self.session(cache)
        for path in Self.paths.dropLast() {
            var request = SessionRequest(.get, "http://127.0.0.1:\(origin.port)\(path)", fields: ["X-Kind": "a"])
            let kept = try await session.send(request)
            #expect(kept.body == (path == "/large" ? large : Array("\(path) a".utf8)))
            #expect(kept.metrics.exchanges.isEmpty, "\(path)")
            request.cachePolicy = .revalidate
            let validated = try await session.send(request)
            #expect(validated.body == kept.body && validated.metrics.exchanges.map(\.status) == [304])
        }
        await session.shutdown(.cancel)
        cache.close()
    }
}
