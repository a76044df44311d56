import Foundation
import HTTPMessage
import TestSupport
import Testing

// docs/library.md shows what stands between the two lines, word for word.
// sample
import HTTPSerialization
import HTTPSession
import ServerTrust

struct Release: Decodable, Sendable {
    let name: String
    let file: String
}

/// `newest BASE PIN ANCHORS FOLDER`: asks a JSON API, whose key is pinned, for its newest release, and fetches that.
func newest(_ arguments: [String], say: @escaping @Sendable (String) -> Void) async -> Int32 {
    do {
        let policy = try TrustPolicy(
            anchors: .given(TrustAnchors(pem: Array(arguments[2].utf8))), pins: PinSet(.publicKey, [Pin(arguments[1])]))
        var configuration = SessionConfiguration()
        configuration.base = try TargetURI(arguments[0])
        configuration.cache = MemoryResponseCache()
        configuration.retries.limit = 4
        configuration.retries.delay = .milliseconds(100)
        let session = try HTTPSession(
            configuration: configuration, trust: .policies(TrustPolicySet([], fallback: .policy(policy))))
        let release = try await session.value(HTTPRequest(.get, "newest"), as: DecodableSerializer<Release>())
        let transfer = Transfer()
        let telling = Task {
            for await step in transfer.progress { say("\(Int(100 * (step.fractionReceived ?? 0))) %") }
        }
        let file = try await session.download(HTTPRequest(.get, release.file), to: .folder(arguments[3]), as: transfer)
        await telling.value
        say("\(release.name): \(file.length) octets in \(file.path)")
        await session.shutdown(.drain(deadline: .seconds(1)))
        return 0
    } catch {
        say("failed: \(error)")
        return 1
    }
}
// end of sample

@Suite("The sample of docs/library.md: a session")
struct SessionSampleTests {
    @Test(
        "It asks behind the right pin, tries again, fetches and tells how far it is; behind a wrong pin it says why and asks nothing"
    )
    func runs() async throws {
        let authority = TestAuthority()
        let identity = authority.identity()
        let content = PatternBytes.make(300_000, seed: 9)
        let busy = SentCount()
        let origin = ScriptedOrigin(identity: identity) { connection in
            while let head = connection.readHead() {
                busy.add(1)
                switch OriginRequest(head: head).target {
                case _ where busy.value == 1: connection.respond("503 Busy")
                case "/v1/newest":
                    connection.respond(
                        fields: "Content-Type: application/json\r\n", body: "{\"name\": \"one\", \"file\": \"files/one.bin\"}")
                default:
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n")
                    connection.send(bytes: content)
                }
            }
        }
        let folder = try TemporaryFolder()
        let anchors = "-----BEGIN CERTIFICATE-----\n\(Base64.encode(authority.der))\n-----END CERTIFICATE-----\n"
        let pin = try #require(Certificate(der: identity.der)).publicKeyDigest.description
        let said = SaidLines()
        let arguments = ["https://127.0.0.1:\(origin.port)/v1", pin, anchors, folder.path("")]
        #expect(await newest(arguments) { said.add($0) } == 0, "\(said.lines)")
        #expect(folder.read("one.bin") == content)
        #expect(said.lines.contains("100 %"))
        #expect(said.lines.last?.hasPrefix("one: 300000 octets in ") == true)
        let wrong = try #require(Certificate(der: authority.identity().der)).publicKeyDigest.description
        let before = origin.requestHeads.count
        #expect(await newest([arguments[0], wrong, anchors, folder.path("")]) { said.add($0) } == 1)
        #expect(said.lines.last?.contains("trust_rejected (pin_mismatch)") == true)
        origin.stop()
        #expect(origin.requestHeads.count == before)
    }

    @Test("The page shows this sample, and it has fewer than 60 lines")
    func isShown() throws {
        let here = URL(filePath: #filePath)
        let root = (0..<4).reduce(here) { path, _ in path.deletingLastPathComponent() }
        let source = try String(contentsOf: here, encoding: .utf8)
        let page = try String(contentsOf: root.appending(path: "docs/library.md"), encoding: .utf8)
        let start = try #require(source.range(of: "// sample\n")).upperBound
        let end = try #require(source.range(of: "// end of sample")).lowerBound
        #expect(source[start..<end].split(separator: "\n", omittingEmptySubsequences: false).count < 60)
        #expect(page.contains(source[start..<end]))
    }
}
