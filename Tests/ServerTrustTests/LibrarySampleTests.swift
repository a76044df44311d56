import Foundation
import Testing

// docs/library-trust.md contains the text between the two marker lines, word for word.
// sample
import ServerTrust

func judge(chain: String, anchors: String, pin: String, host: String, at seconds: Int64) throws -> String {
    guard let certificates = Certificate.reading(pem: Array(chain.utf8)) else { return "no certificates" }
    let policy = try TrustPolicy(
        anchors: .given(TrustAnchors(pem: Array(anchors.utf8))),
        pins: PinSet(.publicKey, [Pin(pin)]))
    do {
        let verdict = try policy.evaluate(
            ServerEvidence(certificates: certificates), host: host, at: POSIXTime(seconds: seconds))
        return "trusted for \(verdict.daysToExpiry) days by \(verdict.chain.last!.facts.subject)"
    } catch {
        return "refused, \(error.reason.rawValue): \(error.certificate?.subject ?? host)"
            + ", expected \(error.expectedDigests), seen \(error.seenDigests)"
    }
}
// end of sample

@Suite("The sample in docs/library-trust.md")
struct LibrarySampleTests {
    private static let file = VectorFile.shared
    private static let chain = ["leaf", "middle"].map { PinTests.pem("CERTIFICATE", file.der($0)) }.joined(separator: "\n")
    private static let anchors = PinTests.pem("CERTIFICATE", file.der("root"))

    @Test("The sample trusts a chain with the pin, and gives the reason when the pin does not match")
    func judges() throws {
        let pin = try Self.file.certificate("leaf").publicKeyDigest
        let other = try Self.file.certificate("otherRoot").publicKeyDigest
        let trusted = try judge(
            chain: Self.chain, anchors: Self.anchors, pin: pin.description, host: "good.example.com", at: 1_780_272_000)
        #expect(trusted == "trusted for 30 days by CN=Root")
        let refused = try judge(
            chain: Self.chain, anchors: Self.anchors, pin: other.description, host: "good.example.com", at: 1_780_272_000)
        #expect(refused.hasPrefix("refused, pin_mismatch: CN=leaf, expected [sha256/"))
    }

    @Test("The page contains this sample")
    func isShown() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let source = try String(contentsOf: here, encoding: .utf8)
        let page = try String(contentsOf: root.appending(path: "docs/library-trust.md"), encoding: .utf8)
        let start = try #require(source.range(of: "// sample\n")).upperBound
        let end = try #require(source.range(of: "// end of sample")).lowerBound
        #expect(page.contains(source[start..<end]))
    }
}
