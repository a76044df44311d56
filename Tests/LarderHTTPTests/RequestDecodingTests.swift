import HTTPCaching
import HTTPSerialization
import ResponseStore
import ServerTrust
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: decoding and cache policies of one request, and the contents of caches")
struct RequestDecodingTests {
    /// Answers with gzip, and says which codings were requested.
    private static func origin() -> ScriptedOrigin {
        ScriptedOrigin.answering { request, connection in
            let asked = request["Accept-Encoding"] ?? "none"
            let head = "Content-Encoding: gzip\r\nContent-Length: \(SessionValueTests.gzip.count)\r\nX-Asked: \(asked)\r\n\r\n"
            return connection.send("HTTP/1.1 200 OK\r\n" + head) && connection.send(bytes: SessionValueTests.gzip)
        }
    }

    @Test("`decodesContent` turns requesting and decoding content codings on and off, whole and in pieces")
    func decodes() async throws {
        let origin = Self.origin()
        defer { origin.stop() }
        for standard in [false, true] {
            let session = try HTTPSession.plain { $0.decodesContent = standard }
            for (option, coding, isDecoded) in [
                (true, nil, true), (true, "gzip", true), (false, nil, false), (false, "gzip", false), (nil, "gzip", false),
                (nil, nil, standard),
            ] as [(Bool?, String?, Bool)] {
                var request = SessionRequest(.get, origin.uri())
                request.fields["Accept-Encoding"] = coding
                request.options.decodesContent = option
                let expected = isDecoded ? SessionValueTests.plain : SessionValueTests.gzip
                let whole = try await session.send(request)
                #expect(whole.body == expected, "\(standard) \(option as Any) \(coding ?? "-")")
                #expect(whole.fields["Content-Encoding"] == (isDecoded ? nil : "gzip"))
                let asked = whole.fields["X-Asked"] ?? ""
                if let coding { #expect(asked == coding) } else { #expect(asked.contains("br") == isDecoded) }
                #expect(try await session.open(request).body.collect(atMost: 100) == expected)
            }
        }
    }

    @Test("A download with `decodesContent` fails before a request is sent, since downloads are not decoded")
    func refusesDecodedDownloads() async throws {
        let origin = Self.origin()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let session = try HTTPSession.plain()
        var request = SessionRequest(.get, origin.uri())
        request.options.decodesContent = true
        let error = try await HTTPSession.failure { [request] in
            try await session.download(request, to: .file(folder.path("x")))
        }
        #expect(error.code == .malformedRequest && error.description.contains("decodesContent"))
        #expect(origin.connectionCount == 0 && folder.names.isEmpty && session.transfers().isEmpty)
        request.options.decodesContent = false
        _ = try await session.download(request, to: .file(folder.path("x")))
        #expect(folder.read("x") == SessionValueTests.gzip)
    }

    @Test("`storedOnly` sends nothing, with and without a cache; `reloadAll` asks other caches to reload, also without a cache")
    func obeysPolicies() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            guard connection.readBody(of: request) != nil else { return false }
            return connection.respond(body: request["Cache-Control"] ?? "-")
        }
        defer { origin.stop() }
        for cache in [nil, MemoryResponseCache()] {
            let session = try HTTPSession.plain { $0.cache = cache }
            let requests = [
                SessionRequest(.get, origin.uri()), SessionRequest(.get, origin.uri(), fields: ["Range": "bytes=0-1"]),
                SessionRequest(.post, origin.uri(), body: .octets([1])),
            ]
            for var request in requests {
                request.cachePolicy = .storedOnly
                let before = origin.requestHeads.count
                let error = try await HTTPSession.failure { [request] in try await session.send(request) }
                #expect(error.code == .notStored, "\(request.method), with a cache: \(cache != nil)")
                #expect(origin.requestHeads.count == before)
            }
            for var request in requests {
                request.cachePolicy = .reloadAll
                #expect(try await session.send(request).text.contains("no-cache"), "\(request.method)")
                request.cachePolicy = .reload
                #expect(try await session.send(request).text == "-")
            }
        }
    }

    @Test("Statistics count each variant, with its size; a purge and a reload of the file change them")
    func countsResponses() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            connection.respond(
                fields: "Cache-Control: max-age=60\r\nVary: X-Kind\r\n", body: String(repeating: "a", count: 5000))
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let path = folder.path("cache.sqlite")
        func fill(_ cache: any ResponseCaching) async throws -> TargetURI {
            let session = try HTTPSession.plain { $0.cache = cache }
            for (path, kind) in [("/a", "1"), ("/a", "2"), ("/b", "1")] {
                let request = SessionRequest(.get, origin.uri(path), fields: ["X-Kind": kind])
                #expect(try await session.send(request).cache?.isStored == true)
            }
            await session.shutdown(.cancel)
            return try TargetURI(origin.uri("/a"))
        }
        let memory = MemoryResponseCache()
        let uri = try await fill(memory)
        let full = memory.statistics()
        #expect(full.responses == 3 && full.size >= 15_000 && full.size < 25_000 && full.capacity == 20 << 20)
        for isStored in [true, false] { #expect(await memory.remove(uri) == isStored) }
        let left = memory.statistics()
        #expect(left.responses == 1 && left.size >= 5000 && left.size < 10_000)
        // Closing writes what waits, and only that is counted.
        let writer = try FileResponseCache(path: path, capacity: 64 << 20)
        _ = try await fill(writer)
        writer.close()
        let file = try FileResponseCache(path: path, capacity: 64 << 20)
        let stored = await file.statistics()
        #expect(stored.responses == 3 && stored.size >= 15_000 && stored.capacity == 64 << 20)
        #expect(await file.removeAll())
        #expect(await file.statistics().responses == 0)
        file.close()
    }

    @Test("A value has the verdict on its server, and none after a hit")
    func hasVerdict() async throws {
        struct User: Decodable { let name: String }
        let authority = TestAuthority()
        let identity = authority.identity()
        let origin = ScriptedOrigin(identity: identity) { connection in
            while connection.readHead() != nil {
                connection.respond(
                    fields: "Content-Type: application/json\r\nCache-Control: max-age=60\r\n", body: "{\"name\": \"a\"}")
            }
        }
        defer { origin.stop() }
        var configuration = SessionConfiguration()
        configuration.cache = MemoryResponseCache()
        let policies = try authority.policies(pins: identity.pins())
        let session = try HTTPSession(configuration: configuration, trust: .policies(policies))
        let request = SessionRequest(.get, "https://127.0.0.1:\(origin.port)/")
        let first = try await session.response(request, as: User.self)
        let pin = Pin(certificate: try #require(Certificate(der: identity.der)))
        #expect(first.value.name == "a" && first.trust?.matchedPin == pin && first.trust?.chain.count == 2)
        let hit = try await session.response(request, as: User.self)
        #expect(hit.cache?.isHit == true && hit.trust == nil)
    }

    @Test("A refused error response is not stored, although it may be; its JSON body is read as another type")
    func storesNoProblem() async throws {
        struct User: Decodable, Sendable { let name: String }
        struct Problem: Decodable, Equatable, Sendable { let error: String }
        let count = SentCount()
        let origin = ScriptedOrigin.answering { request, connection in
            count.add(1)
            return connection.respond(
                "404 No", fields: "Content-Type: application/json\r\nCache-Control: max-age=60\r\n",
                body: "{\"error\": \"\(count.value)\"}")
        }
        defer { origin.stop() }
        let cache = MemoryResponseCache()
        let session = try HTTPSession.plain { $0.cache = cache }
        let request = SessionRequest(.get, origin.uri())
        let error = try await HTTPSession.failure { try await session.value(request, as: User.self) }
        #expect(error.value(as: Problem.self) == Problem(error: "1"))
        guard case .problem(let second) = try await session.response(request, as: User.self, or: Problem.self) else {
            throw SessionError(.otherType)
        }
        #expect(second.value == Problem(error: "2") && second.cache?.isHit == false && second.cache?.isStored == false)
        #expect(cache.statistics().responses == 0)
        // `send` accepts the response, so it is stored.
        #expect(try await session.send(request).cache?.isStored == true)
        #expect(cache.statistics().responses == 1)
    }
}
