import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: downloads")
struct DownloadTests {
    static func quick(_ change: (inout SessionConfiguration) -> Void = { _ in }) throws -> HTTPSession {
        try HTTPSession.plain {
            $0.retries = .standard
            $0.retries.delay = .milliseconds(1)
            change(&$0)
        }
    }

    @Test("The file gets its name only when it is complete; then no other file is left in the folder")
    func downloads() async throws {
        let gate = Gate()
        let content = PatternBytes.make(1_000_000, seed: 1)
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            connection.send(bytes: Array(content[..<500_000]))
            gate.wait()
            connection.send(bytes: Array(content[500_000...]))
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        folder.write([1], to: "file")
        let session = try Self.quick()
        let transfer = Transfer()
        let (uri, path) = (origin.uri(), folder.path("file"))
        let task = Task { try await session.download(SessionRequest(.get, uri), to: .file(path), as: transfer) }
        // The part file is opened on another thread than the one that receives.
        try await until { transfer.snapshot.progress.received >= 400_000 && folder.names.count == 2 }
        #expect(folder.read("file") == [1])
        gate.open()
        let file = try await task.value
        #expect(file.length == 1_000_000)
        #expect(folder.read("file") == content)
        #expect(folder.names == ["file"])
        #expect(transfer.snapshot.progress.fractionReceived == 1)
        #expect(OriginRequest(head: origin.requestHeads[0])["Accept-Encoding"] == "identity")
    }

    @Test("A downloaded file has the mode that the umask leaves of 0666")
    func obeysTheUmask() async throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "a") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        // Created by the test itself with the same umask, which belongs to the whole process.
        let probe = open(folder.path("probe"), O_CREAT | O_WRONLY, 0o666)
        close(probe)
        let session = try Self.quick()
        for destination in [DownloadDestination.file(folder.path("file")), .folder(folder.url.path)] {
            let file = try await session.download(SessionRequest(.get, origin.uri("/named")), to: destination)
            #expect(try Self.mode(of: file.path) == Self.mode(of: folder.path("probe")))
        }
    }

    private static func mode(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("An interrupted download is resumed with Range and If-Range, and its progress continues")
    func goesOn() async throws {
        let content = PatternBytes.make(100 * 1024, seed: 2)
        let origin = PartialOrigin(content, entityTag: "\"v1\"") { number in number == 1 ? .cut(at: 60 * 1024) : .serve }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let transfer = Transfer()
        let progress = transfer.progress
        let file = try await Self.quick().download(
            SessionRequest(.get, origin.uri), to: .file(folder.path("x")), as: transfer)
        #expect(folder.read("x") == content)
        #expect(file.status == 206)
        #expect(file.metrics.exchanges.map(\.status) == [200, 206])
        let second = OriginRequest(head: origin.requestHeads[1])
        #expect(second["Range"] == "bytes=61440-")
        #expect(second["If-Range"] == "\"v1\"")
        var before: UInt64 = 0
        for await step in progress {
            #expect(step.received >= before)
            before = step.received
        }
        #expect(before == UInt64(content.count))
    }

    @Test("A token resumes the download in another session; if the entity has changed meanwhile, the download starts over")
    func resumesByToken() async throws {
        let content = PatternBytes.make(80_000, seed: 3)
        let folder = try TemporaryFolder()
        for changesEntity in [false, true] {
            let changed = PatternBytes.make(70_000, seed: 4)
            let first = PartialOrigin(content, entityTag: "\"a\"") { _ in .cut(at: 30_000) }
            let request = SessionRequest(.get, first.uri)
            let error = try await HTTPSession.failure {
                try await Self.quick { $0.retries = .never }.download(request, to: .file(folder.path("x")))
            }
            first.stop()
            let token = try #require(error.resumeToken)
            #expect(token.length == 30_000 && token.total == 80_000)
            #expect(error.code == .incompleteResponse)
            #expect(folder.read("x") == nil)
            // As another process would read it.
            let copy = try JSONDecoder().decode(ResumeToken.self, from: JSONEncoder().encode(token))
            #expect(copy == token)
            let second = PartialOrigin(
                changesEntity ? changed : content, entityTag: changesEntity ? "\"b\"" : "\"a\"", port: first.port
            ) { _ in .serve }
            defer { second.stop() }
            let file = try await Self.quick().download(request, to: .file(folder.path("x")), resuming: copy)
            #expect(folder.read("x") == (changesEntity ? changed : content))
            #expect(file.keptLength == (changesEntity ? 0 : 30_000))
            try FileManager.default.removeItem(atPath: folder.path("x"))
        }
        #expect(folder.names.isEmpty)
    }

    @Test("A token for another target, or with a missing part file, is rejected without a request")
    func refusesTokens() async throws {
        let folder = try TemporaryFolder()
        let session = try Self.quick()
        let token = ResumeToken(
            target: "http://127.0.0.1:9/a", entityTag: "\"a\"", path: folder.path("none"), length: 5, total: nil)
        for target in ["http://127.0.0.1:9/a", "http://127.0.0.1:9/b"] {
            let error = try await HTTPSession.failure {
                try await session.download(SessionRequest(.get, target), to: .file(folder.path("x")), resuming: token)
            }
            #expect(error.code == .resumeRejected)
        }
    }

    @Test(
        "Without a strong validator the download starts over, and an error leaves no part file",
        arguments: ["W/\"a\"", ""])
    func needsStrongValidator(tag: String) async throws {
        let content = PatternBytes.make(50_000, seed: 5)
        let origin = PartialOrigin(content, entityTag: tag) { number in number == 1 ? .cut(at: 20_000) : .serve }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        _ = try await Self.quick().download(SessionRequest(.get, origin.uri), to: .file(folder.path("x")))
        #expect(folder.read("x") == content)
        #expect(origin.requestHeads.allSatisfy { OriginRequest(head: $0)["Range"] == nil })
        let broken = PartialOrigin(content, entityTag: tag) { _ in .cut(at: 20_000) }
        defer { broken.stop() }
        let error = try await HTTPSession.failure {
            try await Self.quick().download(SessionRequest(.get, broken.uri), to: .file(folder.path("y")))
        }
        #expect(error.code == .incompleteResponse)
        #expect(error.resumeToken == nil)
        #expect(folder.names == ["x"])
        #expect(broken.requestHeads.count == 3)
    }

    @Test(
        "A failed move is a separate error and leaves no part file: a folder in the way, a taken name, a missing folder"
    )
    func tellsFailedMoves() async throws {
        let origin = PartialOrigin([1, 2, 3], entityTag: "\"a\"") { _ in .serve }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("taken"), withIntermediateDirectories: false)
        folder.write([9], to: "old")
        let session = try Self.quick()
        for destination in [
            DownloadDestination.file(folder.path("taken")), .file(folder.path("old"), replaces: false),
            .file(folder.path("no/x")),
        ] {
            let error = try await HTTPSession.failure {
                try await session.download(SessionRequest(.get, origin.uri), to: destination)
            }
            #expect(error.code == .downloadMoveFailed)
        }
        #expect(folder.names == ["old", "taken"])
        #expect(folder.read("old") == [9])
        let made = try await session.download(
            SessionRequest(.get, origin.uri), to: .file(folder.path("new/er/x"), makesFolders: true))
        #expect(folder.read("new/er/x") == [1, 2, 3])
        #expect(made.length == 3)
    }

    @Test("In a folder the file gets the suggested name, made safe; a taken name gets a number")
    func takesSuggestedNames() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            connection.respond(fields: "Content-Disposition: attachment; filename=\"../../etc/x\"\r\n", body: request.target)
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let session = try Self.quick()
        for _ in 0..<2 {
            _ = try await session.download(
                SessionRequest(.get, origin.uri("/a")), to: .folder(folder.path("in"), makesFolders: true))
        }
        #expect(folder.names == ["in"])
        #expect(folder.read("in/x") == Array("/a".utf8))
        #expect(folder.read("in/x (2)") == Array("/a".utf8))
    }

    @Test(
        "A suggested name is always the safe name of one file",
        arguments: [
            ("attachment; filename=\"../../etc/x\"", "x"), ("attachment; filename=/etc/passwd", "passwd"),
            ("attachment; filename=\"..\"", "last.bin"), ("attachment; filename=\"a\\\\b\"", "b"),
            ("attachment; filename=\"a\nb\"", "ab"), ("attachment; filename=\"\u{202E}gpj.exe\"", "gpj.exe"),
            ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt; filename=\"x\"", "€ rates.txt"),
            ("attachment; filename*=UTF-8''..%2f..%2fx", "x"), ("attachment; filename*=latin1''a; filename=b", "b"),
            ("attachment; filename=\".bashrc\"", "bashrc"), ("attachment; filename=\"a.txt. . \"", "a.txt"),
            ("attachment; filename=\"-rf\"", "_rf"), ("attachment; filename=\"x/--help\"", "_-help"),
            ("attachment; filename=\"..-rf\"", "_rf"), ("attachment; filename=\"a-b\"", "a-b"),
            ("attachment; filename=\"a;b.txt\"", "a;b.txt"), ("attachment", "last.bin"), ("inline; filename=", "last.bin"),
            ("attachment; filename=\"a%2fb\"", "a%2fb"), ("attachment; FileName = \"q.txt\"", "q.txt"),
        ])
    func makesNamesSafe(disposition: String, name: String) throws {
        let uri = try TargetURI("http://h/path/last.bin?query")
        #expect(SuggestedName.name(for: ["Content-Disposition": disposition], uri) == name)
    }

    @Test("Without Content-Disposition the path gives the name: decoded, safe, never empty, never too long")
    func namesByPath() throws {
        for (path, name) in [
            ("/", "download"), ("/a/", "download"), ("/a%20b.txt", "a b.txt"), ("/%2e%2e%2fx", "x"), ("/..%2f", "download"),
            ("/%ff", "download"), ("/-rf", "_rf"), ("/%2Drf", "_rf"),
        ] {
            #expect(SuggestedName.name(for: [:], try TargetURI("http://h" + path)) == name, "\(path)")
        }
        let long = SuggestedName.name(for: [:], try TargetURI("http://h/" + String(repeating: "x", count: 400) + ".tar"))
        #expect(long.utf8.count == 200 && long.hasSuffix(".tar"))
    }

    @Test(
        "Content-Range is parsed strictly",
        arguments: [
            ("bytes 0-4/5", ContentRange.part(0..<5, of: 5)), ("bytes 5-9/*", .part(5..<10, of: nil)),
            ("bytes */5", .unsatisfied(length: 5)), ("bytes 0-5/5", nil), ("bytes 4-3/5", nil), ("items 0-4/5", nil),
            ("bytes 0-4", nil),
            ("bytes +0-4/5", nil), ("bytes */*", nil), ("bytes 0-99999999999999999999/*", nil),
        ] as [(String, ContentRange?)])
    func readsContentRange(value: String, expected: ContentRange?) {
        let fields: SessionFields = ["Content-Range": value]
        #expect(fields.contentRange == expected)
    }
}
