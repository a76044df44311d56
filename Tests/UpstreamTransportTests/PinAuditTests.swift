import EventLoop
import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Pin audit: the keys seen in handshakes while pins are only reported")
struct PinAuditTests {
    private let authority = TestAuthority()

    private func verdict(on identity: TLSIdentity, pinned: TLSIdentity, at now: Timestamp) throws -> TrustVerdict {
        let root = try #require(Certificate(der: authority.der))
        let pin = Pin(certificate: try #require(Certificate(der: pinned.der)))
        let policy = try TrustPolicy(
            anchors: .given(try TrustAnchors([root])), pins: try PinSet(.publicKey, [pin], enforcement: .reported))
        return try policy.evaluate(
            ServerEvidence(chain: [identity.der]), host: "one.test", at: now)
    }

    @Test("Handshakes with and without a pinned key are counted per host and port, and from zero after a policy change")
    func counts() throws {
        let (first, second) = (authority.identity(), authority.identity())
        let now = try Self.now()
        let audit = PinAudit()
        audit.note(try verdict(on: first, pinned: first, at: now), host: "one.test", port: 443, at: now)
        let missed = try verdict(on: second, pinned: first, at: now)
        for _ in 0..<2 { audit.note(missed, host: "one.test", port: 443, at: now) }
        audit.note(missed, host: "one.test", port: 8443, at: now)
        var found = audit.findings.listed
        #expect(found.map(\.port) == [443, 8443])
        #expect(found[0].matchedCount == 1 && found[0].mismatchedCount == 2 && found[0].seen.map(\.count) == [2])
        #expect(found[0].seen[0].digests == missed.chain.map(\.publicKeyDigest))
        #expect(found[0].expected == missed.reported?.expectedDigests)
        audit.note(try verdict(on: second, pinned: second, at: now), host: "one.test", port: 443, at: now)
        found = audit.findings.listed
        #expect(found[0].matchedCount == 1 && found[0].mismatchedCount == 0 && found[0].seen.isEmpty)
        // Hosts whose pins are no longer only reported are removed.
        audit.keep { _, port in port == 8443 }
        #expect(audit.findings.listed.map(\.port) == [8443])
    }

    @Test("Hosts, and chains per host, are listed up to their limits; further ones are counted")
    func isBounded() throws {
        let pinned = authority.identity()
        let now = try Self.now()
        let audit = PinAudit()
        for _ in 0...PinAudit.chainLimit {
            audit.note(try verdict(on: authority.identity(), pinned: pinned, at: now), host: "0.test", port: 443, at: now)
        }
        #expect(audit.findings.listed[0].seen.count == PinAudit.chainLimit && audit.findings.listed[0].unlistedCount == 1)
        let matched = try verdict(on: pinned, pinned: pinned, at: now)
        for number in 1...PinAudit.hostLimit { audit.note(matched, host: "\(number).test", port: 443, at: now) }
        #expect(audit.findings.listed.count == PinAudit.hostLimit && audit.findings.unlistedCount == 1)
    }

    /// The current time: the authority's certificates are valid from today.
    private static func now() throws -> Timestamp { Timestamp(milliseconds: try EventLoop().wallClockMilliseconds) }
}
