import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import LarderHTTP

extension HTTPSession {
    /// A session that trusts no server, uses nothing of the system's, and tries once.
    static func plain(_ change: (inout SessionConfiguration) -> Void = { _ in }) throws -> HTTPSession {
        var configuration = SessionConfiguration()
        configuration.retries = .never
        change(&configuration)
        return try HTTPSession(configuration: configuration, trust: .policies(TrustPolicySet([], fallback: .deny)))
    }

    /// The error of a call that must fail.
    static func failure<Value>(_ body: () async throws -> Value) async throws -> SessionError {
        do { _ = try await body() } catch { return try #require(error as? SessionError, "\(error)") }
        throw SessionError(.malformedRequest, "nothing was thrown")
    }
}

extension ScriptedOrigin {
    func uri(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}

@Suite("HTTPSession: whole responses")
struct SessionSendTests {
    @Test("A response has status, fields, body, trailers and URI; the second request reuses the connection")
    func sends() async throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil {
                connection.send("HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.send("5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n")
            }
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let first = try await session.send(SessionRequest(.get, origin.uri("/a b?c#d")))
        #expect(first.status == 200)
        #expect(first.fields["x-a"] == "1, 2")
        #expect(first.text == "hello")
        #expect(first.trailers["X-Sum"] == "7")
        #expect(first.uri.path == "/a%20b")
        let second = try await session.send(SessionRequest(.get, origin.uri()))
        #expect(second.metrics.exchanges.map(\.isConnectionReused) == [true])
        #expect(origin.connectionCount == 1)
        let request = OriginRequest(head: try #require(origin.requestHeads.first))
        #expect(request.target == "/a%20b?c")
        #expect(request["Host"] == "127.0.0.1:\(origin.port)")
        await session.shutdown(.cancel)
    }

    @Test("Fields of a request replace the session's defaults of the same names only")
    func overridesDefaults() async throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond() }
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.defaultFields = ["User-Agent": "a", "X-Default": "b"] }
        _ = try await session.send(SessionRequest(.get, origin.uri(), fields: ["x-default": "c", "X-Own": "d"]))
        let request = OriginRequest(head: try #require(origin.requestHeads.first))
        #expect(request["User-Agent"] == "a")
        #expect(request.values("X-Default") == ["c"])
        #expect(request["X-Own"] == "d")
    }

    @Test(
        "An invalid request is a specific error, and no connection is made",
        arguments: [
            ("ftp://h/", SessionFields(), SessionError.Code.badURL), ("/relative", [:], .badURL), ("http://u:p@h/", [:], .badURL),
            ("http://bücher.example/", [:], .badURL), ("http:///", [:], .badURL), ("http://h:99999/", [:], .badURL),
            ("ORIGIN", ["Bad Name": "x"], .malformedRequest), ("ORIGIN", ["X": "a\r\nY: b"], .malformedRequest),
            ("ORIGIN", ["Content-Length": "5"], .malformedRequest),
            ("ORIGIN", ["Transfer-Encoding": "chunked"], .malformedRequest),
            ("ORIGIN", ["Connection": "close"], .malformedRequest), ("ORIGIN", ["Host": "a", "host": "b"], .malformedRequest),
        ] as [(String, SessionFields, SessionError.Code)])
    func refusesBadRequests(target: String, fields: SessionFields, code: SessionError.Code) async throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond() }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let target = target == "ORIGIN" ? origin.uri() : target
        let error = try await HTTPSession.failure { try await session.send(SessionRequest(.get, target, fields: fields)) }
        #expect(error.code == code)
        #expect(origin.connectionCount == 0)
        #expect(session.transfers().isEmpty)
    }

    @Test("An empty body sends Content-Length: 0; so do methods that anticipate content, even without a body (RFC 9110 §8.6)")
    func tellsEmptyBodies() async throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond() }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        for (method, body) in [
            (HTTPMethod.post, RequestBody.octets([])), (.post, .none), (.put, .none), (.get, .none), (.delete, .none),
        ] {
            _ = try await session.send(SessionRequest(method, origin.uri(), body: body))
        }
        let lengths = origin.requestHeads.map { OriginRequest(head: $0)["Content-Length"] }
        #expect(lengths == ["0", "0", "0", nil, nil])
    }

    @Test("Content from memory, a file or a sequence arrives complete, with known length or in chunks")
    func sendsContent() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            let framing = request["Content-Length"].map { "length " + $0 } ?? "chunked"
            return connection.respond(body: "\(framing) \(SHA256Digest(of: body).base64)")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let content = PatternBytes.make(3_000_000, seed: 1)
        let digest = SHA256Digest(of: content).base64
        let folder = try TemporaryFolder()
        let path = folder.path("content")
        folder.write(content, to: "content")
        let pieces = stride(from: 0, to: content.count, by: 70_001).map { Array(content[$0..<min($0 + 70_001, content.count)]) }
        @Sendable func stream() -> AsyncStream<[UInt8]> {
            AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }
        let bodies: [(RequestBody, String)] = [
            (.octets(content), "length 3000000"), (.file(path: path), "length 3000000"),
            (.stream(BodyStream(length: 3_000_000, replaying: stream)), "length 3000000"),
            (.stream(BodyStream(stream())), "chunked"),
        ]
        for (body, framing) in bodies {
            let response = try await session.send(SessionRequest(.post, origin.uri(), body: body))
            #expect(response.text == "\(framing) \(digest)")
        }
    }

    @Test("A content source that fails, or yields too much or too little, fails the transfer")
    func failsWithItsSource() async throws {
        struct Broken: Error {}
        let origin = ScriptedOrigin.answering { request, connection in
            connection.readBody(of: request) != nil && connection.respond()
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        func stream(length: UInt64?, fails: Bool) -> BodyStream {
            BodyStream(
                length: length,
                replaying: {
                    AsyncThrowingStream<[UInt8], any Error> { continuation in
                        continuation.yield([1, 2, 3])
                        continuation.finish(throwing: fails ? Broken() : nil)
                    }
                })
        }
        for (length, fails) in [(nil, true), (2, false), (4, false)] as [(UInt64?, Bool)] {
            let body = RequestBody.stream(stream(length: length, fails: fails))
            let error = try await HTTPSession.failure { try await session.send(SessionRequest(.put, origin.uri(), body: body)) }
            #expect(error.code == .bodySourceFailed)
            #expect((error.underlying is Broken) == fails)
        }
        let missing = try await HTTPSession.failure {
            try await session.send(SessionRequest(.put, origin.uri(), body: .file(path: "/nowhere/at/all")))
        }
        #expect(missing.code == .fileFailed)
        #expect(session.turns.counts.active == 0)
    }

    @Test("A truncated body is an error with the bytes received; a body above the limit is another error")
    func tellsPartialBodies() async throws {
        let origin = ScriptedOrigin { connection in
            guard let head = connection.readHead() else { return }
            if OriginRequest(head: head).target == "/long" {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + String(repeating: "x", count: 2000))
                _ = connection.isLetGo()
            } else {
                connection.send("HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\nETag: \"a\"\r\n\r\nhalf")
            }
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.limits.bodyLength = 1000 }
        let short = try await HTTPSession.failure { try await session.send(SessionRequest(.get, origin.uri("/short?secret"))) }
        #expect(short.code == .incompleteResponse)
        #expect(short.partialBody == Array("half".utf8))
        #expect(short.response?.status == 206)
        #expect(short.response?.fields["ETag"] == "\"a\"")
        #expect(!"\(short)".contains("secret"))
        let long = try await HTTPSession.failure { try await session.send(SessionRequest(.get, origin.uri("/long"))) }
        #expect(long.code == .bodyTooLarge)
    }

    @Test("If no server listens, or none responds in time, the error says which, and in what phase")
    func tellsFailures() async throws {
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            _ = connection.isLetGo()
        }
        let port = origin.port
        let session = try HTTPSession.plain()
        var request = SessionRequest(.get, origin.uri())
        var timeouts = SessionTimeouts()
        timeouts.firstByte = .milliseconds(100)
        request.timeouts = timeouts
        let silent = try await HTTPSession.failure { try await session.send(request) }
        #expect(silent.code == .timeout)
        #expect(silent.phase == .firstByte)
        origin.stop()
        let refused = try await HTTPSession.failure { try await session.send(SessionRequest(.get, "http://127.0.0.1:\(port)/")) }
        #expect(refused.code == .connectionRefused)
    }

    @Test("Relative targets resolve below the base, with or without a trailing slash", arguments: ["/v1", "/v1/"])
    func resolvesAgainstBase(path: String) async throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        defer { origin.stop() }
        let base = try TargetURI(origin.uri(path))
        let session = try HTTPSession.plain { $0.base = base }
        for (target, expected) in [("users", "/v1/users"), ("?q=1", "/v1/?q=1"), ("/users", "/users"), ("../x/./y", "/x/y")] {
            #expect(try await session.send(SessionRequest(.get, target)).text == expected)
        }
    }

    @Test("A name in `resolve` is not looked up; the phases add up to at most the total")
    func measures() async throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "x") }
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.resolve = ["there.test": ["127.0.0.1"]] }
        for isReused in [false, true] {
            let response = try await session.send(SessionRequest(.get, "http://there.test:\(origin.port)/"))
            let exchange = try #require(response.metrics.exchanges.first)
            #expect(exchange.isConnectionReused == isReused)
            #expect(exchange.remoteAddress == "127.0.0.1")
            #expect(exchange.status == 200)
            if isReused { #expect(exchange.connect == .zero && exchange.nameLookUp == .zero && exchange.handshake == .zero) }
            let phases = [
                exchange.queue, exchange.nameLookUp, exchange.connect, exchange.handshake, exchange.firstByte, exchange.body,
            ]
            #expect(phases.reduce(.zero, +) <= exchange.total + .milliseconds(1))
            #expect(exchange.total <= response.metrics.total)
        }
    }
}
