import HTTPCaching
import ResponseStore
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: a file as its cache (RFC 9111), and stale responses (RFC 5861)")
struct SessionStoreTests {
    /// Both kinds of cache follow the same rules.
    enum Kind: CaseIterable, Sendable {
        case memory, file

        func make(in folder: TemporaryFolder) throws -> any ResponseCaching {
            switch self {
            case .memory: MemoryResponseCache(capacity: 64 << 20, preferredAfterPurge: 48 << 20)
            case .file: try FileResponseCache(path: folder.path("store.sqlite"))
            }
        }
    }

    private static func session(_ cache: any ResponseCaching) throws -> HTTPSession {
        try HTTPSession.plain { $0.cache = cache }
    }

    private static func age(_ response: SessionResponse) -> Int? { response.fields["Age"].flatMap { Int($0) } }

    @Test("A file cache serves another session after it was reopened, and its responses are validated with a 304")
    func fillsAFile() async throws {
        let folder = try TemporaryFolder()
        let origin = ScriptedOrigin.answering { request, connection in
            if request["If-None-Match"] == "\"a\"" {
                return connection.respond("304 Not Modified", fields: "Cache-Control: max-age=60\r\nX-New: yes\r\n")
            }
            let control = request.target == "/stale" ? "max-age=0" : "max-age=60, private"
            return connection.respond(fields: "Cache-Control: \(control)\r\nETag: \"a\"\r\n", body: request.target)
        }
        defer { origin.stop() }
        let first = try FileResponseCache(path: folder.path("store.sqlite"))
        var session = try Self.session(first)
        for path in ["/fresh", "/stale", "/fresh"] { _ = try await session.send(SessionRequest(.get, origin.uri(path))) }
        #expect(origin.requestHeads.count == 2)
        await session.shutdown(.cancel)
        first.close()

        let second = try FileResponseCache(path: folder.path("store.sqlite"))
        session = try Self.session(second)
        let fresh = try await session.send(SessionRequest(.get, origin.uri("/fresh")))
        #expect(fresh.text == "/fresh" && Self.age(fresh) != nil && fresh.metrics.exchanges.isEmpty)
        #expect(fresh.fields["Content-Length"] == "6")
        let validated = try await session.send(SessionRequest(.get, origin.uri("/stale")))
        #expect(validated.status == 200 && validated.text == "/stale" && validated.fields["X-New"] == "yes")
        #expect(validated.metrics.exchanges.map(\.status) == [304])
        let again = try await session.send(SessionRequest(.get, origin.uri("/stale")))
        #expect(again.text == "/stale" && again.metrics.exchanges.isEmpty)
        #expect(origin.requestHeads.count == 3)
        second.close()
        #expect(await second.responses(for: CachedResponse.Key([])).isEmpty)
    }

    @Test("A streamed body is stored if, and only if, it is read to its end", arguments: Kind.allCases)
    func keepsStreams(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let body = PatternedBody(length: 12 << 20)
        let origin = ScriptedOrigin.answering { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(body.length)\r\n\r\n")
            connection.send(body)
            return true
        }
        defer { origin.stop() }
        let session = try Self.session(try kind.make(in: folder))
        func read(_ path: String, upTo end: Int = .max) async throws -> (count: Int, isSame: Bool, fields: SessionFields) {
            let response = try await session.open(SessionRequest(.get, origin.uri(path)))
            var count = 0
            var isSame = true
            for try await piece in response.body {
                isSame = isSame && piece.withUnsafeBytes { body.matches($0, at: count) }
                count += piece.count
                if count >= end { break }
            }
            return (count, isSame, response.fields)
        }
        let partly = try await read("/part", upTo: 1 << 20)
        #expect(partly.isSame && partly.count < body.length)
        #expect(try await read("/part", upTo: 100).fields["Age"] == nil)

        var served = try await read("/whole")
        try await until {
            served = try await read("/whole")
            return served.fields["Age"] != nil
        }
        #expect(served.count == body.length && served.isSame)
        let requests = origin.requestHeads.count
        let whole = try await session.send(SessionRequest(.get, origin.uri("/whole")))
        #expect(whole.body == body.bytes(0..<body.length) && Self.age(whole) != nil)
        // Leaving a stored body early leaves nothing behind.
        #expect(try await read("/whole", upTo: 100).isSame)
        let file = try await session.download(SessionRequest(.get, origin.uri("/whole")), to: .file(folder.path("copy")))
        #expect(file.length == UInt64(body.length) && folder.read("copy") == whole.body)
        #expect(origin.requestHeads.count == requests)
        try await until { session.transfers().isEmpty }
    }

    @Test("A download is stored too", arguments: Kind.allCases)
    func keepsDownloads(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let octets = PatternBytes.make(300_000, seed: 3)
        let origin = ScriptedOrigin.answering { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(octets.count)\r\n\r\n")
            return connection.send(bytes: octets)
        }
        defer { origin.stop() }
        let session = try Self.session(try kind.make(in: folder))
        _ = try await session.download(SessionRequest(.get, origin.uri()), to: .file(folder.path("first")))
        var request = SessionRequest(.get, origin.uri(), fields: ["Accept-Encoding": "identity"])
        request.cachePolicy = .storedOnly
        try await until { (try? await session.send(request))?.body == octets }
        #expect(origin.requestHeads.count == 1)
    }

    @Test(
        "Within stale-while-revalidate a stale response is served at once, and validated once in the background",
        arguments: Kind.allCases)
    func validatesBehind(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let release = Gate()
        let count = SentCount()
        let origin = ScriptedOrigin.answering { _, connection in
            count.add(1)
            let number = count.value
            if number > 1 { release.wait() }
            return connection.respond(
                fields: "Cache-Control: max-age=\(number == 1 ? 0 : 60), stale-while-revalidate=60\r\n", body: "\(number)")
        }
        defer { origin.stop() }
        let session = try Self.session(try kind.make(in: folder))
        func get() async throws -> String { try await session.send(SessionRequest(.get, origin.uri())).text }
        #expect(try await get() == "1")
        for _ in 0..<3 { #expect(try await get() == "1") }
        try await until { origin.requestHeads.count == 2 }
        release.open()
        try await until { try await get() == "2" }
        #expect(origin.requestHeads.count == 2)
        try await until { session.transfers().isEmpty }
    }

    @Test("Within stale-if-error a stale response is served if the origin fails; otherwise the failure is delivered")
    func standsIn() async throws {
        let isDown = SentCount()
        let origin = ScriptedOrigin.answering { request, connection in
            if isDown.value > 0 {
                return request.target.hasPrefix("/cut") ? false : connection.respond("503 Service Unavailable")
            }
            let bound = request.target.hasSuffix("bounded") ? ", stale-if-error=60" : ""
            return connection.respond(fields: "Cache-Control: max-age=0\(bound)\r\nETag: \"a\"\r\n", body: request.target)
        }
        let session = try Self.session(MemoryResponseCache())
        let paths = ["/bounded", "/cut/bounded", "/plain", "/cut/plain"]
        for path in paths { _ = try await session.send(SessionRequest(.get, origin.uri(path))) }
        isDown.set(1)
        for path in paths.prefix(2) {
            let stale = try await session.send(SessionRequest(.get, origin.uri(path)))
            #expect(stale.status == 200 && stale.text == path)
        }
        #expect(try await session.send(SessionRequest(.get, origin.uri("/plain"))).status == 503)
        #expect(
            try await HTTPSession.failure { try await session.send(SessionRequest(.get, origin.uri("/cut/plain"))) }.code
                == .connectionTerminated)
        origin.stop()
        #expect(try await session.send(SessionRequest(.get, origin.uri("/bounded"))).text == "/bounded")
    }

    @Test("A response invalidated while it was received is not stored", arguments: Kind.allCases)
    func heedsWrites(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let release = Gate()
        let origin = ScriptedOrigin.answering { request, connection in
            if request["X-Slow"] != nil { release.wait() }
            return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: request["X-Slow"] ?? "new")
        }
        defer { origin.stop() }
        let session = try Self.session(try kind.make(in: folder))
        async let slow = session.send(SessionRequest(.get, origin.uri(), fields: ["X-Slow": "old"]))
        try await until { origin.requestHeads.count == 1 }
        _ = try await session.send(SessionRequest(.put, origin.uri(), body: .octets([1])))
        release.open()
        #expect(try await slow.text == "old")
        #expect(try await session.send(SessionRequest(.get, origin.uri())).text == "new")
    }

    @Test("HEAD is answered from the stored response, and can show that it is outdated", arguments: Kind.allCases)
    func answersHEAD(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let count = SentCount()
        let origin = ScriptedOrigin.answering { request, connection in
            count.add(1)
            let tag = "\"\(count.value)\""
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: \(tag)\r\nContent-Length: 4\r\n\r\n"
            return connection.send(head + (request.method == "HEAD" ? "" : "body"))
        }
        defer { origin.stop() }
        let session = try Self.session(try kind.make(in: folder))
        _ = try await session.send(SessionRequest(.get, origin.uri()))
        let kept = try await session.send(SessionRequest(.head, origin.uri()))
        #expect(kept.body.isEmpty && kept.fields["Content-Length"] == "4" && Self.age(kept) != nil)
        var asking = SessionRequest(.head, origin.uri())
        asking.cachePolicy = .reload
        #expect(try await session.send(asking).fields["ETag"] == "\"2\"")
        #expect(try await session.send(SessionRequest(.get, origin.uri())).fields["ETag"] == "\"3\"")
    }

    @Test("The `willCache` hook gets a streamed body as a whole, and a longer body is not stored")
    func asksAboutStreams() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            connection.respond(
                fields: "Cache-Control: max-age=60\r\n", body: String(repeating: "x", count: request.target == "/long" ? 200 : 20)
            )
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain {
            $0.cache = MemoryResponseCache()
            $0.limits.cachedBodyLength = 100
            $0.willCache = { .modify(fields: $0.fields, body: $0.body + [0x21]) }
        }
        for path in ["/short", "/long"] {
            let body = try await session.open(SessionRequest(.get, origin.uri(path))).body
            _ = try await body.collect(atMost: 1000)
        }
        #expect(try await session.send(SessionRequest(.get, origin.uri("/short"))).text.last == "!")
        #expect(try await session.send(SessionRequest(.get, origin.uri("/long"))).text.last == "x")
    }

    @Test("A suspended transfer of a stored body waits, and a cancelled one ends")
    func obeysTransfers() async throws {
        let folder = try TemporaryFolder()
        let body = PatternedBody(length: 12 << 20)
        let origin = ScriptedOrigin.answering { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(body.length)\r\n\r\n")
            connection.send(body)
            return true
        }
        defer { origin.stop() }
        let session = try Self.session(try FileResponseCache(path: folder.path("store.sqlite")))
        let request = SessionRequest(.get, origin.uri())
        try await until {
            let response = try await session.open(request)
            for try await _ in response.body {}
            return response.fields["Age"] != nil
        }
        let transfer = Transfer()
        let response = try await session.open(request, as: transfer)
        transfer.suspend()
        var count = 0
        var pieces = response.body.makeAsyncIterator()
        // Bytes in flight still arrive, but no others.
        count += try await pieces.next()?.count ?? 0
        let resuming = Task { transfer.resume() }
        while let piece = try await pieces.next() { count += piece.count }
        await resuming.value
        #expect(count == body.length)

        let cancelled = Transfer()
        let other = try await session.open(request, as: cancelled)
        cancelled.cancel()
        #expect(try await HTTPSession.failure { try await other.body.collect(atMost: .max) }.code == .cancelled)
        try await until { session.transfers().isEmpty }
    }
}
