import Foundation
import HTTPSerialization
import TestSupport
import Testing

@testable import Downloads
@testable import LarderCLI

@Suite("larder fetch: a stored response with another digest")
struct FetchStoredDigestTests {
    private static let old = Array("old".utf8)
    private static let new = Array("new".utf8)
    private static let digest = FileDigest.text(ContentDigest(of: new, by: .sha256))

    /// Sends one content at first, and the other from the second request on.
    private static func origin(then later: [UInt8]) -> FetchOrigin {
        FetchOrigin { number, _ in
            FetchOrigin.Manner(
                body: number == 1 ? old : later, tag: number == 1 ? "\"one\"" : "\"two\"",
                fields: "Cache-Control: max-age=600\r\n")
        }
    }

    @Test("The server is contacted once more, this is reported, and its response replaces the stored one", arguments: [1, 4])
    func asksOnceMore(parts: Int) throws {
        let origin = Self.origin(then: Self.new)
        let stage = try FetchStage()
        #expect(try stage.fetch("\(origin.url)/a").code == 0)
        let outcome = try stage.fetch("--overwrite", "--parts", "\(parts)", "--digest", Self.digest, "\(origin.url)/a")
        #expect(
            outcome.code == 0
                && outcome.talk.contains("the stored response does not have the expected digest"),
            "\(outcome)")
        #expect(stage.content("a") == Self.new && origin.requests.count == 2)
        let offline = try CommandLineTests.larder(
            ["fetch", "--offline", "--digest", Self.digest, "-o", "\(stage.files)/b", "\(origin.url)/a"], environment: stage.user)
        #expect(offline.code == 0 && stage.content("b") == Self.new, "\(offline)")
    }

    @Test("If the new response is wrong too, the exit code is 5, and there is no third request")
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

    @Test("A response that came from the server is not requested again, and offline no request is sent")
    func asksNobody() throws {
        let origin = Self.origin(then: Self.new)
        let stage = try FetchStage()
        #expect(try stage.fetch("--digest", Self.digest, "\(origin.url)/a").code == 5)
        #expect(origin.requests.count == 1)
        let offline = try stage.fetch("--offline", "--digest", Self.digest, "\(origin.url)/a")
        #expect(offline.code == 5 && !offline.talk.contains("requesting the file from the server"), "\(offline)")
        #expect(origin.requests.count == 1)
    }

    @Test("If the server cannot be reached, the exit code is 5, and both errors are reported")
    func tellsBoth() throws {
        let origin = Self.origin(then: Self.new)
        let stage = try FetchStage()
        #expect(try stage.fetch("\(origin.url)/a").code == 0)
        origin.origin.stop()
        let outcome = try stage.fetch("--overwrite", "--retries", "0", "--digest", Self.digest, "\(origin.url)/a")
        #expect(
            outcome.code == 5 && outcome.talk.contains("; the new request: The host refused the connection"),
            "\(outcome)")
    }

    @Test("The server's own digest of a stored response is verified too, also when a part is resumed")
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
            outcome.code == 0 && outcome.talk.contains("requesting the file from the server") && stage.content("a") == Self.new,
            "\(outcome)")
    }
}
