import Foundation
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: cookies in a file")
struct CookieFileTests {
    private static func jar(_ value: String = "1") throws -> CookieJar {
        let uri = try TargetURI("https://example.com/x")
        let jar = CookieJar()
        for cookie in [
            Cookie("a", value, for: uri, path: "/x", includesSubdomains: true, expires: 99_999_999_999, isHTTPOnly: true),
            Cookie("session", "2", for: uri), Cookie("gone", "3", for: uri, expires: 1),
        ] { jar.set(try #require(cookie)) }
        return jar
    }

    private static func mode(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("A file has all properties of the cookies; session cookies are in it only if they are asked for")
    func keepsCookies() throws {
        let folder = try TemporaryFolder()
        let jar = try Self.jar()
        try jar.write(to: folder.path("jar"))
        #expect(try CookieJar(file: folder.path("jar")).all == jar.all.filter { $0.name == "a" })
        try jar.write(to: folder.path("jar"), includesSessionCookies: true)
        let again = try CookieJar(file: folder.path("jar"))
        #expect(again.all == jar.all && again.all.map(\.name) == ["a", "session"])
        #expect(again.cookies(for: try TargetURI("https://www.example.com/x/y")).map(\.name) == ["a"])
    }

    @Test("Only the owner can read the file, also if it replaces a file that everyone can read")
    func hidesCookies() throws {
        let folder = try TemporaryFolder()
        folder.write([1], to: "old")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("old"))
        for name in ["old", "new"] {
            try Self.jar().write(to: folder.path(name))
            #expect(try Self.mode(of: folder.path(name)) == 0o600)
        }
        #expect(folder.names == ["new", "old"])
    }

    @Test("The new file replaces the old one as a whole: a reader of the old file still has all its bytes")
    func replacesAtOnce() throws {
        let folder = try TemporaryFolder()
        try Self.jar("old").write(to: folder.path("jar"))
        let former = try #require(folder.read("jar"))
        let reader = try FileHandle(forReadingFrom: URL(filePath: folder.path("jar")))
        try Self.jar("new").write(to: folder.path("jar"))
        #expect([UInt8](try reader.readToEnd() ?? Data()) == former)
        #expect(try CookieJar(file: folder.path("jar")).all.map(\.value) == ["new"])
    }

    @Test("If the file cannot be written, the error names it, and nothing is left in the folder")
    func failsWhole() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("jar"), withIntermediateDirectories: false)
        for path in [folder.path("jar"), folder.path("none/jar")] {
            let error = try #require(throws: SessionError.self) { try Self.jar().write(to: path) }
            #expect(error.code == .fileFailed && error.description.contains(path))
            #expect(!error.description.contains("99999999"))
        }
        #expect(folder.names == ["jar"])
        let error = try #require(throws: SessionError.self) { try CookieJar(file: folder.path("jar")) }
        #expect(error.code == .fileFailed)
    }

    @Test("A damaged file, or one of another version, is an error that names the file, and the file stays as it is")
    func refusesDamage() throws {
        let folder = try TemporaryFolder()
        try Self.jar("secret").write(to: folder.path("jar"))
        let text = String(decoding: try #require(folder.read("jar")), as: UTF8.self)
        let damaged = [
            "", "{}", "[]", String(text.dropLast(20)), text + "x",
            text.replacing("\"version\":1", with: "\"version\":2"),
            // Cookies that no response can set. Sent, they would make a field line, a second cookie or no cookie.
            text.replacing("secret", with: "secret\\r\\nX-A: b"), text.replacing("secret", with: "secret; admin=1"),
            text.replacing("\"a\"", with: "\"\""), text.replacing("\"a\"", with: "\"a=b\""),
            text.replacing("\"/x\"", with: "\"\""),
        ]
        for (number, content) in damaged.enumerated() {
            try #require(content != text, "\(number): the file is not damaged")
            folder.write(Array(content.utf8), to: "jar")
            let error = try #require(throws: SessionError.self, "\(number)") { try CookieJar(file: folder.path("jar")) }
            #expect(error.code == .fileFailed && error.description.contains(folder.path("jar")), "\(number)")
            #expect(!"\(error)\(error.underlying as Any)".contains("secret"))
            #expect(folder.read("jar") == Array(content.utf8))
        }
    }

    @Test("A session sends the cookies of the file, and the file has the cookies that responses have set")
    func servesSession() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            connection.respond(fields: "Set-Cookie: b=2; Max-Age=600\r\n", body: request["Cookie"] ?? "-")
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        for expected in ["-", "b=2"] {
            let jar = try CookieJar(file: folder.path("jar"))
            #expect(try await HTTPSession.plain { $0.cookies = jar }.get(origin.uri()).text == expected)
            try jar.write(to: folder.path("jar"))
        }
    }
}
