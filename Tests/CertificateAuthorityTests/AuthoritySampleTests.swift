import Foundation
import Testing

// docs/library-authority.md shows the text between the two lines, word for word.
// sample
import CertificateAuthority
import ServerTrust

func certify(_ host: String, at seconds: Int64) throws -> (root: String, certificate: String, key: String) {
    let now = POSIXTime(seconds: seconds)
    let terms = try RootTerms(user: "alice", host: "desk", days: 7, constraint: NameConstraint(["corp.test"]))
    let authority = try LocalAuthority(making: terms, at: now)
    let leaf = try authority.leaf(for: LeafName(host), at: now)
    return (authority.rootText, leaf.certificateText, leaf.keyText ?? "")
}
// end of sample

@Suite("The sample in docs/library-authority.md")
struct AuthoritySampleTests {
    @Test("The sample CA issues a leaf for a host within its constraint, and refuses another")
    func certifies() throws {
        let made = try certify("www.corp.test", at: 1_900_000_000)
        let chain = try #require(Certificate.reading(pem: Array(made.certificate.utf8)))
        let policy = try TrustPolicy(anchors: .given(TrustAnchors(pem: Array(made.root.utf8))))
        let verdict = try policy.evaluate(
            ServerEvidence(certificates: chain), host: "www.corp.test", at: POSIXTime(seconds: 1_900_000_000))
        #expect(verdict.daysToExpiry == 7 && made.key.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(throws: LeafRefusal.outsideConstraint) { try certify("bank.example", at: 1_900_000_000) }
    }

    @Test("The page contains this sample")
    func isShown() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let source = try String(contentsOf: here, encoding: .utf8)
        let page = try String(contentsOf: root.appending(path: "docs/library-authority.md"), encoding: .utf8)
        let start = try #require(source.range(of: "// sample\n")).upperBound
        let end = try #require(source.range(of: "// end of sample")).lowerBound
        #expect(page.contains(source[start..<end]))
    }
}
