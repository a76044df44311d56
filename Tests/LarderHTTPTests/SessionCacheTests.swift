import HTTPCaching
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: the cache and its six policies (RFC 9111)")
struct SessionCacheTests {
    /// Answers with the number of requests so far, with the given fields.
    private static func counting(_ fields: String) -> ScriptedOrigin {
        let count = SentCount()
        return ScriptedOrigin.answering { request, connection in
            count.add(1)
            if request["If-None-Match"] == "\"a\"" {
                return connection.respond("304 Not Modified", fields: fields)
            }
            return connection.respond(fields: fields, body: "\(count.value)")
        }
    }

    private static func session(_ change: (inout SessionConfiguration) -> Void = { _ in }) throws -> HTTPSession {
        try HTTPSession.plain {
            $0.cache = MemoryResponseCache()
            change(&$0)
        }
    }

    private static func get(_ session: HTTPSession, _ uri: String, _ policy: CachePolicy? = nil) async throws -> SessionResponse {
        var request = SessionRequest(.get, uri)
        request.cachePolicy = policy
        return try await session.send(request)
    }

    @Test("A fresh response is served from the cache with its age, also a private one, and also as a stream")
    func serves() async throws {
        let origin = Self.counting("Cache-Control: private, max-age=60\r\n")
        defer { origin.stop() }
        let session = try Self.session()
        #expect(try await Self.get(session, origin.uri()).fields["Age"] == nil)
        let second = try await Self.get(session, origin.uri())
        #expect(second.text == "1")
        #expect(second.fields["Age"].flatMap { Int($0) } != nil)
        #expect(second.metrics.exchanges.isEmpty)
        let third = try await session.open(SessionRequest(.get, origin.uri()))
        #expect(try await third.body.collect(atMost: 10) == Array("1".utf8))
        #expect(origin.requestHeads.count == 1)
        #expect(session.transfers().isEmpty)
    }

    @Test("Each cache policy behaves as documented")
    func obeysPolicies() async throws {
        let origin = Self.counting("Cache-Control: max-age=60\r\nETag: \"a\"\r\n")
        defer { origin.stop() }
        let session = try Self.session()
        let uri = origin.uri()
        #expect(try await HTTPSession.failure { try await Self.get(session, uri, .storedOnly) }.code == .notStored)
        #expect(origin.requestHeads.isEmpty)
        #expect(try await Self.get(session, uri, .storedElseLoad).text == "1")
        #expect(try await Self.get(session, uri, .storedOnly).text == "1")
        #expect(try await Self.get(session, uri, .reload).text == "2")
        #expect(try await Self.get(session, uri).text == "2")
        #expect(try await Self.get(session, uri, .reloadAll).text == "3")
        #expect(OriginRequest(head: origin.requestHeads[2])["Cache-Control"] == "no-cache")
        let revalidated = try await Self.get(session, uri, .revalidate)
        #expect(revalidated.status == 200 && revalidated.text == "3")
        #expect(OriginRequest(head: origin.requestHeads[3])["If-None-Match"] == "\"a\"")
        #expect(origin.requestHeads.count == 4)
    }

    @Test("A stale response is validated, or served at any age if the policy says so")
    func validates() async throws {
        let origin = Self.counting("Cache-Control: max-age=0\r\nETag: \"a\"\r\n")
        defer { origin.stop() }
        let session = try Self.session()
        #expect(try await Self.get(session, origin.uri()).text == "1")
        let second = try await Self.get(session, origin.uri())
        #expect(second.status == 200 && second.text == "1")
        #expect(second.metrics.exchanges.map(\.status) == [304])
        #expect(try await Self.get(session, origin.uri(), .storedElseLoad).text == "1")
        #expect(origin.requestHeads.count == 2)
    }

    @Test(
        "A response that must not be stored, or must be validated, is requested again",
        arguments: ["no-store", "max-age=60\r\nVary: *", "max-age=60, no-cache"])
    func keepsNot(control: String) async throws {
        let origin = Self.counting("Cache-Control: \(control)\r\n")
        defer { origin.stop() }
        let session = try Self.session()
        #expect(try await Self.get(session, origin.uri()).text == "1")
        #expect(try await Self.get(session, origin.uri()).text == "2")
    }

    @Test("Vary separates variants; a successful unsafe request invalidates stored responses; range requests bypass the cache")
    func keysAndInvalidates() async throws {
        let origin = Self.counting("Cache-Control: max-age=60\r\nVary: X-Kind\r\n")
        defer { origin.stop() }
        let session = try Self.session()
        func get(_ kind: String, _ method: HTTPMethod = .get) async throws -> String {
            try await session.send(SessionRequest(method, origin.uri(), fields: ["X-Kind": kind])).text
        }
        #expect(try await get("a") == "1")
        #expect(try await get("b") == "2")
        #expect(try await get("a") == "1")
        #expect(try await get("b") == "2")
        #expect(try await get("a", .post) == "3")
        #expect(try await get("a") == "4")
        #expect(
            try await session.send(SessionRequest(.get, origin.uri(), fields: ["X-Kind": "a", "Range": "bytes=0-"])).text == "5")
    }

    @Test("The `willCache` hook can drop or modify a response")
    func asksBeforeKeeping() async throws {
        let origin = Self.counting("Cache-Control: max-age=60\r\n")
        defer { origin.stop() }
        let dropping = try Self.session { $0.willCache = { _ in .drop } }
        #expect(try await Self.get(dropping, origin.uri()).text == "1")
        #expect(try await Self.get(dropping, origin.uri()).text == "2")
        let changing = try Self.session {
            $0.willCache = { candidate in
                var fields = candidate.fields
                fields["X-Kept"] = "yes"
                return .modify(fields: fields, body: candidate.body + [0x21])
            }
        }
        #expect(try await Self.get(changing, origin.uri()).text == "3")
        let kept = try await Self.get(changing, origin.uri())
        #expect(kept.text == "3!")
        #expect(kept.fields["X-Kept"] == "yes")
    }

    @Test("The memory cache stays within its limit")
    func limitsMemory() async throws {
        let cache = MemoryResponseCache(capacity: 30_000, preferredAfterPurge: 20_000)
        let origin = ScriptedOrigin.answering { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: String(repeating: "x", count: 5_000))
        }
        defer { origin.stop() }
        let session = try Self.session { $0.cache = cache }
        for number in 0..<20 {
            _ = try await Self.get(session, origin.uri("/\(number)"))
            #expect(cache.cost <= 30_000)
        }
        #expect(cache.cost > 10_000)
        #expect(cache.removeAll())
        #expect(cache.cost == 0)
    }
}
