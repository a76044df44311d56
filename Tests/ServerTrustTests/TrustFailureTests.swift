import ServerTrust
import Testing

@Suite("What a trust failure contains (T43)")
struct TrustFailureTests {
    private static let file = VectorFile.shared

    private static func failure(
        of chain: [String], host: String = "good.example.com", pins: PinSet? = nil
    ) throws -> TrustFailure {
        let policy = try TrustPolicy(anchors: .given(TrustAnchors([file.certificate("root")])), pins: pins)
        return try #require(throws: TrustFailure.self) {
            try policy.evaluate(ServerEvidence(chain: chain.map(file.der)), host: host, at: POSIXTime(seconds: 1_780_272_000))
        }
    }

    @Test("The failure's code is the public reason code", arguments: TrustFailure.Reason.allCases)
    func wordIsPublic(reason: TrustFailure.Reason) { #expect(reason.word.description == reason.rawValue) }

    @Test("A failure describes the certificate at fault: subject, names, dates, serial number and digests")
    func namesCertificate() throws {
        let failure = try Self.failure(of: ["names"], host: "other.example.com")
        let facts = try #require(failure.certificate)
        #expect(failure.reason == .hostMismatch)
        #expect(failure.depth == 0)
        #expect(facts.subject == "CN=names")
        #expect(facts.issuer == "CN=Root")
        #expect(facts.names.prefix(3) == ["www.example.com", "*.wild.example.com", "xn--bcher-kva.example.com"])
        #expect(facts.names.suffix(2) == ["192.0.2.1", "2001:db8::1"])
        #expect(facts.notBefore == POSIXTime(seconds: 1_780_272_000 - 30 * 86_400))
        #expect(facts.notAfter == POSIXTime(seconds: 1_780_272_000 + 30 * 86_400))
        #expect(!facts.serialNumber.isEmpty)
        #expect(facts.publicKeyDigest == (try Self.file.certificate("names").publicKeyDigest))
        #expect(failure.description == "host_mismatch: other.example.com, certificate 0: CN=names")
    }

    @Test("A pin mismatch lists the pinned digests and the chain's digests, of keys or of certificates as the pins are")
    func holdsDigests() throws {
        let chain = try ["leaf", "middle", "root"].map(Self.file.certificate)
        let other = try Self.file.certificate("otherRoot")
        let byKey = try Self.failure(of: ["leaf", "middle"], pins: PinSet(.publicKey, [Pin(certificate: other)]))
        #expect(byKey.expectedDigests == [other.publicKeyDigest])
        #expect(byKey.seenDigests == chain.map(\.publicKeyDigest))
        let byCertificate = try Self.failure(of: ["leaf", "middle"], pins: PinSet(.certificate, [Pin(certificate: other)]))
        #expect(byCertificate.expectedDigests == [other.digest])
        #expect(byCertificate.seenDigests == chain.map(\.digest))
    }

    @Test("A failure lists at most 100 of a thousand pinned digests")
    func boundsDigests() throws {
        let pins = try (0..<1000).map { number in
            Pin(publicKeyDigest: try #require(SHA256Digest((0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 2 * 8)) })))
        }
        #expect(try Self.failure(of: ["leaf", "middle"], pins: PinSet(.publicKey, pins)).expectedDigests.count == 100)
    }

    @Test("Text of certificates and hosts is escaped", arguments: [("nul", "\\x00"), ("newline", "\\x0A")])
    func escapes(label: String, escape: String) throws {
        let failure = try Self.failure(of: [label], host: "a\u{1B}[31m\n")
        #expect(!failure.description.utf8.contains { $0 < 0x20 || $0 > 0x7E })
        #expect(failure.reason == .malformed)
    }

    @Test("Failures are equal when their reasons are equal")
    func equality() throws {
        #expect(try Self.failure(of: ["alone"]) == Self.failure(of: ["otherLeaf", "otherRoot"]))
        #expect(try Self.failure(of: ["alone"]) != Self.failure(of: ["otherLeaf"]))
    }
}
