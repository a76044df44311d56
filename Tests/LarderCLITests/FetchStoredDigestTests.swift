import Foundation
import HTTPSerialization
import TestSupport
import Testing

@testable import Downloads
@testable import LarderCLI

@Suite("larder fetch: what is stored has another digest")
struct FetchStoredDigestTests {
    private static let old = Array("old".utf8)
    private static let new = Array("new".utf8)
    private static let digest = FileDigest.text(ContentDigest(of: new, by: .sha256))

    /// Gives the one, and from the second request on the other.
    private static func origin(then later: [UInt8]) -> FetchOrigin {
        FetchOrigin { number, _ in
            FetchOrigin.Manner(
                body: number == 1 ? old : later, tag: number == 1 ? "\"one\"" : "\"two\"",
                fields: "Cache-Control: max-age=600\r\n")
        }
    }

    @Test("The server is asked once more, that is said, and what it sends is stored in its place", arguments: [1, 4])
    func asksOnceMore(parts: Int) throws {
        let origin = Self.origin(then: Self.new)
        let stage = try FetchStage()
        #expect(try stage.fetch("\(origin.url)/a").code == 0)
        let outcome = try stage.fetch("--overwrite", "--parts", "\(parts)", "--digest", Self.digest, "\(origin.url)/a")
        #expect(
            outcome.code == 0
                && outcome.talk.contains("a: the stored response has a different digest: requesting it from the server"),
            "\(outcome)")
        #expect(stage.content("a") == Self.new && origin.requests.count == 2)
        let offline = try CommandLineTests.larder(
            ["fetch", "--offline", "--digest", Self.digest, "-o", "\(stage.files)/b", "\(origin.url)/a"], environment: stage.user)
        #expect(offline.code == 0 && stage.content("b") == Self.new, "\(offline)")
    }

    @Test("Where that is wrong as well it is 5, and nobody is asked a third time")
    func asksNoThirdTime() throws {
        let origin = Self.origin(then: Array("wrong".utf8))
        let stage = try FetchStage()
        #expect(try stage.fetch("\(origin.url)/a").code == 0)
        let outcome = try stage.fetch("--overwrite", "--digest", Self.digest, "\(origin.url)/a")
        #expect(outcome.code == 5 && outcome.talk.contains("a: the digest is wrong: sha256:"), "\(outcome)")
        #expect(origin.requests.count == 2)
        #expect(stage.content("a") == Self.old)
        #expect(try stage.names() == ["a"])
    }

    @Test("What came from the server is not asked for again, nor is anybody where nothing may leave")
    func asksNobody() throws {
        let origin = Self.origin(then: Self.new)
        let stage = try FetchStage()
        #expect(try stage.fetch("--digest", Self.digest, "\(origin.url)/a").code == 5)
        #expect(origin.requests.count == 1)
        let offline = try stage.fetch("--offline", "--digest", Self.digest, "\(origin.url)/a")
        #expect(offline.code == 5 && !offline.talk.contains("requesting it from the server"), "\(offline)")
        #expect(origin.requests.count == 1)
    }

    @Test("A server that cannot be asked: it is 5, and both are told")
    func tellsBoth() throws {
        let origin = Self.origin(then: Self.new)
        let stage = try FetchStage()
        #expect(try stage.fetch("\(origin.url)/a").code == 0)
        origin.origin.stop()
        let outcome = try stage.fetch("--overwrite", "--retries", "0", "--digest", Self.digest, "\(origin.url)/a")
        #expect(
            outcome.code == 5 && outcome.talk.contains("; requested again: The host refused the connection"),
            "\(outcome)")
    }

    @Test("The server's own digest of what is stored is looked at as well, also by who goes on with a part")
    func heedsRepr() throws {
        let right = "Repr-Digest: \(ContentDigest(of: Self.new, by: .sha256))\r\n"
        let origin = FetchOrigin { number, _ in
            FetchOrigin.Manner(
                body: number == 1 ? Self.old : Self.new, tag: "\"\(number)\"", fields: "Cache-Control: max-age=600\r\n\(right)")
        }
        let stage = try FetchStage()
        #expect(try stage.fetch("\(origin.url)/a").code == 5)
        let outcome = try stage.fetch("\(origin.url)/a")
        #expect(
            outcome.code == 0 && outcome.talk.contains("requesting it from the server") && stage.content("a") == Self.new,
            "\(outcome)")
    }
}
