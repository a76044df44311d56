import EventLoop
import Foundation
import HTTPSerialization
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: accepted downloads and what remains of them")
struct DownloadChoiceTests {
    private static func quick() throws -> HTTPSession { try DownloadTests.quick { $0.retries.delay = .zero } }

    private static func answering(_ head: String, _ body: String = "content") -> ScriptedOrigin {
        ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.send("HTTP/1.1 \(head)\r\n\r\n\(body)") }
        }
    }

    @Test(
        "A response that is not accepted makes no file: its status, its type, its length",
        arguments: [
            ("404 Not Found\r\nContent-Type: image/png\r\nContent-Length: 7", SessionError.Code.unacceptableStatus),
            ("203 Other\r\nContent-Type: image/png\r\nContent-Length: 7", .unacceptableStatus),
            ("200 OK\r\nContent-Type: text/html\r\nContent-Length: 7", .unacceptableContentType),
            ("200 OK\r\nContent-Length: 7", .unacceptableContentType),
            ("200 OK\r\nContent-Type: image/png\r\nContent-Length: 11", .bodyTooLarge),
            ("200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked", .bodyTooLarge),
        ])
    func validates(head: String, code: SessionError.Code) async throws {
        let origin = Self.answering(head, head.contains("chunked") ? "b\r\nlong content\r\n0\r\n\r\n" : "content")
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let validation = DownloadValidation(ResponseValidation(statuses: [200...200], contentTypes: ["image/*"]), length: 10)
        let error = try await HTTPSession.failure {
            try await Self.quick().download(
                SessionRequest(.get, origin.uri()), to: .file(folder.path("new/x"), makesFolders: true), validation: validation)
        }
        #expect(error.code == code && error.response != nil && error.resumeToken == nil)
        // A length that is not announced is seen when the bytes arrive.
        #expect(folder.names == (head.contains("chunked") ? ["new"] : []))
        #expect(
            origin.requestHeads.count == 1
                && ((try? FileManager.default.contentsOfDirectory(atPath: folder.path("new"))) ?? []).isEmpty)
    }

    @Test("An accepted response is written as before")
    func accepts() async throws {
        let origin = Self.answering("200 OK\r\nContent-Type: image/png\r\nContent-Length: 7")
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        _ = try await Self.quick().download(
            SessionRequest(.get, origin.uri()), to: .file(folder.path("x")),
            validation: DownloadValidation(ResponseValidation(contentTypes: ["image/*"]), length: 7))
        #expect(folder.read("x") == Array("content".utf8) && folder.names == ["x"])
    }

    @Test("A POST with content is downloaded; an interruption is an error, and nothing is requested again")
    func downloadsByPOST() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            if request.target == "/whole" {
                return connection.respond(fields: "ETag: \"a\"\r\n", body: String(decoding: body, as: UTF8.self))
            }
            connection.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 10\r\n\r\nhalf")
            return false
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let session = try Self.quick()
        let body = RequestBody.octets(Array("report".utf8))
        let file = try await session.download(
            SessionRequest(.post, origin.uri("/whole"), body: body), to: .file(folder.path("x")))
        #expect(file.length == 6 && folder.read("x") == Array("report".utf8))
        let error = try await HTTPSession.failure {
            try await session.download(SessionRequest(.post, origin.uri("/half"), body: body), to: .file(folder.path("y")))
        }
        #expect(error.code == .incompleteResponse && error.resumeToken == nil && folder.names == ["x"])
        #expect(origin.requestHeads.count == 2)
        // PUT is idempotent, so it is sent again, from its first byte.
        _ = try await HTTPSession.failure {
            try await session.download(SessionRequest(.put, origin.uri("/half"), body: body), to: .file(folder.path("y")))
        }
        #expect(origin.requestHeads.count > 3 && origin.requestHeads.allSatisfy { OriginRequest(head: $0)["Range"] == nil })
    }

    private struct NoSpace: Error {}

    @Test("A closure chooses the destination by the first accepted response; its error ends the download without a file")
    func choosesByResponse() async throws {
        let origin = Self.answering(
            "200 OK\r\nContent-Disposition: attachment; filename=a.txt\r\nContent-Length: 7\r\nX-Kind: notes")
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let path = folder.url.path
        let session = try Self.quick()
        let file = try await session.download(
            SessionRequest(.get, origin.uri("/b")),
            to: .chosen { response in
                #expect(response.length == 7 && response.status == 200 && response.uri.path == "/b")
                return .file("\(path)/\(response.fields["X-Kind"] ?? "")/\(response.suggestedName)", makesFolders: true)
            })
        #expect(file.path == folder.path("notes/a.txt") && folder.read("notes/a.txt") == Array("content".utf8))
        let error = try await HTTPSession.failure {
            try await session.download(SessionRequest(.get, origin.uri("/b")), to: .chosen { _ in throw NoSpace() })
        }
        #expect(error.code == .downloadMoveFailed && error.underlying is NoSpace && folder.names == ["notes"])
    }

    @Test("An error of a folder names it")
    func namesFolders() async throws {
        let origin = Self.answering("200 OK\r\nContent-Length: 7")
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let error = try await HTTPSession.failure {
            try await Self.quick().download(SessionRequest(.get, origin.uri()), to: .file(folder.path("missing/x")))
        }
        #expect(error.code == .downloadMoveFailed && error.description.contains("\(folder.path("missing")): open: No such file"))
    }

    // MARK: Last-Modified

    private static let content = PatternBytes.make(50_000, seed: 9)

    /// An entity with a date and no tag. The first request is interrupted after 20,000 bytes.
    private static func dated(_ modified: String, date: String, later: String? = nil, tag: String = "") -> ScriptedOrigin {
        let count = Guarded(0)
        return ScriptedOrigin.answering { request, connection in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            let modified = number > 1 ? later ?? modified : modified
            let fields = "Last-Modified: \(modified)\r\nDate: \(date)\r\n\(tag)"
            if let range = request["Range"], request["If-Range"] == modified, let start = Int(range.dropFirst(6).dropLast()) {
                connection.send(
                    "HTTP/1.1 206 Partial Content\r\n\(fields)Content-Range: bytes \(start)-49999/50000\r\nContent-Length: \(50_000 - start)\r\n\r\n"
                )
                return connection.send(bytes: Array(content[start...]))
            }
            connection.send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 50000\r\n\r\n")
            return connection.send(bytes: Array(number == 1 ? content[..<20_000] : content[...])) && number > 1
        }
    }

    private static let noon = "Sun, 06 Nov 1994 12:00:00 GMT"
    private static let aMinuteBefore = "Sun, 06 Nov 1994 11:59:00 GMT"
    private static let halfAMinuteBefore = "Sun, 06 Nov 1994 11:59:30 GMT"

    @Test("A download is resumed by a Last-Modified that is strong (RFC 9110 §8.8.2.2), and by no other")
    func resumesByDate() async throws {
        for (origin, isResumed) in [
            (Self.dated(Self.aMinuteBefore, date: Self.noon), true), (Self.dated(Self.halfAMinuteBefore, date: Self.noon), false),
            (Self.dated(Self.noon, date: Self.noon), false),
            (Self.dated(Self.aMinuteBefore, date: Self.noon, tag: "ETag: W/\"a\"\r\n"), false),
        ] {
            let folder = try TemporaryFolder()
            let file = try await Self.quick().download(SessionRequest(.get, origin.uri()), to: .file(folder.path("x")))
            #expect(folder.read("x") == Self.content && file.status == (isResumed ? 206 : 200))
            let second = OriginRequest(head: origin.requestHeads[1])
            #expect(
                second["If-Range"] == (isResumed ? Self.aMinuteBefore : nil)
                    && second["Range"] == (isResumed ? "bytes=20000-" : nil))
            origin.stop()
        }
    }

    @Test("If the date has changed meanwhile, the download starts over")
    func noticesAnotherDate() async throws {
        let origin = Self.dated(Self.aMinuteBefore, date: Self.noon, later: "Sun, 06 Nov 1994 11:59:01 GMT")
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let file = try await Self.quick().download(SessionRequest(.get, origin.uri()), to: .file(folder.path("x")))
        #expect(file.status == 200 && folder.read("x") == Self.content)
    }

    @Test("A token has the date, and resumes the download in another session")
    func keepsDateInToken() async throws {
        let origin = Self.dated(Self.aMinuteBefore, date: Self.noon)
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let request = SessionRequest(.get, origin.uri())
        let error = try await HTTPSession.failure {
            try await DownloadTests.quick { $0.retries = .never }.download(request, to: .file(folder.path("x")))
        }
        let token = try #require(error.resumeToken)
        #expect(token.lastModified == Self.aMinuteBefore && token.entityTag == nil)
        let copy = try JSONDecoder().decode(ResumeToken.self, from: JSONEncoder().encode(token))
        let file = try await Self.quick().download(request, to: .file(folder.path("x")), resuming: copy)
        #expect(file.keptLength == 20_000 && folder.read("x") == Self.content && folder.names == ["x"])
    }

    // MARK: Parts of killed processes

    @Test("The parts that a killed process has left are removed; those in use, those of tokens and other files stay")
    func removesLeftParts() async throws {
        let origin = Self.answering("200 OK\r\nContent-Length: 7")
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let left = ".larder-download-1.part"
        let used = ".larder-download-2.part"
        let others = [".larder-resume-3.part", ".larder-abc.part", "larder-download-4.part", ".larder-download-5.txt"]
        for name in [left, used] + others { folder.write([1], to: name) }
        let user = try OpenFile.continuing(folder.path(used))
        #expect(user.lock() == .taken)
        let session = try Self.quick()
        _ = try await session.download(SessionRequest(.get, origin.uri()), to: .file(folder.path("x")))
        #expect(folder.names == ([used, "x"] + others).sorted())
        withExtendedLifetime(user) {}
    }

    @Test("A part in use has a lock, and a part with a token has another name")
    func locksParts() async throws {
        let gate = Gate()
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 10\r\n\r\nhalf")
            gate.wait()
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let session = try DownloadTests.quick { $0.retries = .never }
        let (uri, path) = (origin.uri(), folder.path("x"))
        let task = Task {
            try await HTTPSession.failure { try await session.download(SessionRequest(.get, uri), to: .file(path)) }
        }
        try await until { folder.names.contains { folder.read($0)?.count == 4 } }
        let name = try #require(folder.names.first)
        #expect(name.hasPrefix(".larder-download-") && folder.names.count == 1)
        #expect(try OpenFile.continuing(folder.path(name)).lock() == .heldByOther)
        gate.open()
        let token = try #require(try await task.value.resumeToken)
        #expect(token.path.hasSuffix("/" + name.replacing("download", with: "resume")) && folder.names.count == 1)
    }
}
