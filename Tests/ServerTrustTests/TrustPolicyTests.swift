import Foundation
import ServerTrust
import Testing

@Suite("Trust policies")
struct TrustPolicyTests {
    private static let file = VectorFile.shared

    private static func anchors(_ labels: String...) throws -> TrustPolicy.Anchors {
        .given(try TrustAnchors(labels.map(file.certificate)))
    }

    private static func pin(_ number: UInt8) throws -> Pin {
        Pin(publicKeyDigest: try #require(SHA256Digest([UInt8](repeating: number, count: 32))))
    }

    @Test("Policies with the same terms in a different order have the same fingerprint")
    func sameFingerprint() throws {
        let one = try TrustPolicy(
            anchors: Self.anchors("root", "otherRoot"), pins: PinSet(.publicKey, [Self.pin(1), Self.pin(2)]),
            refusedDigests: [.md5, .sha1])
        let other = try TrustPolicy(
            anchors: Self.anchors("otherRoot", "root"), pins: PinSet(.publicKey, [Self.pin(2), Self.pin(1)]),
            refusedDigests: [.sha1, .md5])
        #expect(one.fingerprint == other.fingerprint)
    }

    @Test("A change to any term changes the fingerprint (T33)")
    func differentFingerprints() throws {
        let anchors = try Self.anchors("root")
        let now = POSIXTime(seconds: 1)
        let lists = try RevocationLists([Array(#require(Self.file.lists["root"]))])
        let otherLists = try RevocationLists([Array(#require(Self.file.lists["middle"]))])
        let pins = try [Self.pin(1)]
        let policies = try [
            TrustPolicy(anchors: anchors), TrustPolicy(anchors: Self.anchors("otherRoot")),
            TrustPolicy(anchors: Self.anchors("root", "otherRoot")),
            TrustPolicy(anchors: anchors, validatesHost: false), TrustPolicy(anchors: anchors, allowsExpired: true),
            TrustPolicy(anchors: anchors, allowsExpired: true, weakUntil: now),
            TrustPolicy(anchors: anchors, allowsExpired: true, weakUntil: POSIXTime(seconds: 2)),
            TrustPolicy(anchors: anchors, minimumTLSVersion: .tls13),
            TrustPolicy(anchors: anchors, minimumKeySizes: KeySizes(rsa: 3072, ellipticCurve: 256)),
            TrustPolicy(anchors: anchors, minimumKeySizes: KeySizes(rsa: 2048, ellipticCurve: 384)),
            TrustPolicy(anchors: anchors, refusedDigests: [.md5]),
            TrustPolicy(anchors: anchors, refusedDigests: []), TrustPolicy(anchors: anchors, auditsSignedTimestamps: true),
            TrustPolicy(anchors: anchors, revocation: Revocation(stapleCheck: .soft)),
            TrustPolicy(anchors: anchors, revocation: Revocation(stapleCheck: .hard)),
            TrustPolicy(anchors: anchors, revocation: Revocation(lists: lists, listCheck: .soft)),
            TrustPolicy(anchors: anchors, revocation: Revocation(lists: otherLists, listCheck: .soft)),
            TrustPolicy(anchors: anchors, revocation: Revocation(lists: lists, listCheck: .hard)),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, pins)),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, [Self.pin(2)])),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, [Self.pin(1), Self.pin(2)])),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, pins), allowsUntrustedRoot: true),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, pins, enforcement: .reported)),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, pins, enforcement: .enforcedFrom(now))),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, pins, expires: now)),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, pins, expires: now, onExpiry: .reports)),
            TrustPolicy(anchors: anchors, pins: PinSet(.certificate, [Pin(certificate: Self.file.certificate("leaf"))])),
            TrustPolicy(anchors: .pins, pins: PinSet(.certificate, [Pin(certificate: Self.file.certificate("leaf"))])),
        ]
        #expect(Set(policies.map(\.fingerprint)).count == policies.count)
    }

    @Test("Weak terms apply through the second `weakUntil`; from the next second the fingerprint is that of the strict policy")
    func weaknessEnds() throws {
        let anchors = try Self.anchors("root")
        let end = POSIXTime(seconds: 1_000)
        let pins = try PinSet(.publicKey, [Self.pin(1)])
        let weak = try TrustPolicy(
            anchors: anchors, pins: pins, validatesHost: false, allowsUntrustedRoot: true, allowsExpired: true,
            minimumTLSVersion: .tls10, minimumKeySizes: KeySizes(rsa: 1024, ellipticCurve: 384), refusedDigests: [.sha224],
            weakUntil: end)
        #expect(weak.isWeakened)
        #expect(weak.active(at: end).fingerprint == weak.fingerprint)
        let later = weak.active(at: POSIXTime(seconds: 1_001))
        #expect(!later.isWeakened)
        let strict = try TrustPolicy(
            anchors: anchors, pins: pins, minimumKeySizes: KeySizes(rsa: 2048, ellipticCurve: 384),
            refusedDigests: [.md5, .sha1, .sha224])
        #expect(later.fingerprint == strict.fingerprint)
        #expect(later.fingerprint != weak.fingerprint)
    }

    @Test("A policy with any weak term reports that it is weakened")
    func tellsWeakness() throws {
        let anchors = try Self.anchors("root")
        let weak = try [
            TrustPolicy(anchors: anchors, validatesHost: false), TrustPolicy(anchors: anchors, allowsExpired: true),
            TrustPolicy(anchors: anchors, pins: PinSet(.publicKey, [Self.pin(1)]), allowsUntrustedRoot: true),
            TrustPolicy(anchors: anchors, minimumTLSVersion: .tls11), TrustPolicy(anchors: anchors, refusedDigests: [.md5]),
            TrustPolicy(anchors: anchors, minimumKeySizes: KeySizes(rsa: 2047, ellipticCurve: 256)),
            TrustPolicy(anchors: anchors, minimumKeySizes: KeySizes(rsa: 2048, ellipticCurve: 255)),
        ]
        #expect(weak.allSatisfy { $0.isWeakened })
        let usual = try TrustPolicy(anchors: anchors)
        let strict = try TrustPolicy(
            anchors: anchors, minimumTLSVersion: .tls13, minimumKeySizes: KeySizes(rsa: 3072, ellipticCurve: 384),
            refusedDigests: [.md5, .sha1, .sha224])
        #expect(!usual.isWeakened && !strict.isWeakened)
    }

    @Test("Only the terms valid at the time apply", arguments: [(0, nil), (1, .expired)] as [(Int64, TrustFailure.Reason?)])
    func judgesByTime(later: Int64, reason: TrustFailure.Reason?) throws {
        let end: Int64 = 1_780_272_000 + 60 * 86_400
        let policy = try TrustPolicy(
            anchors: Self.anchors("root"), allowsExpired: true, weakUntil: POSIXTime(seconds: end))
        let evidence = ServerEvidence(chain: ["leaf", "middle"].map(Self.file.der))
        func verdict() throws -> TrustVerdict {
            try policy.evaluate(evidence, host: "good.example.com", at: POSIXTime(seconds: end + later))
        }
        if let reason {
            #expect(try #require(throws: TrustFailure.self) { try verdict() }.reason == reason)
        } else {
            #expect(try verdict().allowed == [.expired])
        }
    }

    @Test("If one trust anchor cannot be read, none is")
    func readsAnchors() throws {
        let good =
            PinTests.pem("CERTIFICATE", Self.file.der("root")) + "\n" + PinTests.pem("CERTIFICATE", Self.file.der("otherRoot"))
        #expect(try TrustAnchors(pem: Array(good.utf8)).count == 2)
        let bad = good + "\n" + PinTests.pem("CERTIFICATE", [1, 2, 3])
        #expect(throws: TrustPolicyFault.unreadableAnchors) { try TrustAnchors(pem: Array(bad.utf8)) }
        #expect(throws: TrustPolicyFault.unreadableAnchors) { try TrustAnchors(pem: []) }
    }

    @Test("Revocation lists are read in DER and PEM; if one cannot be read, none is")
    func readsLists() throws {
        let list = Array(try #require(Self.file.lists["root"]))
        _ = try RevocationLists([list, Array(PinTests.pem("X509 CRL", list).utf8)])
        for bad in [[], list.dropLast(), list + [0], Array(PinTests.pem("CERTIFICATE", list).utf8)] as [[UInt8]] {
            #expect(throws: TrustPolicyFault.unreadableRevocationList) { try RevocationLists([list, bad]) }
        }
        #expect(throws: TrustPolicyFault.unreadableRevocationList) { try RevocationLists([]) }
    }

    @Test(
        "Expired pins refuse a server only if they are enforced and their expiry is set to fail"
    )
    func reportsBeyondTheEnd() throws {
        let now = POSIXTime(seconds: 1_780_272_000)
        let evidence = ServerEvidence(chain: ["leaf", "middle"].map(Self.file.der))
        func outcome(_ enforcement: PinSet.Enforcement, _ onExpiry: PinSet.Expiry) throws -> TrustFailure.Reason? {
            let pins = try PinSet(
                .publicKey, [Self.pin(1)], enforcement: enforcement, expires: POSIXTime(seconds: now.seconds - 1),
                onExpiry: onExpiry)
            let policy = try TrustPolicy(anchors: Self.anchors("root"), pins: pins)
            do throws(TrustFailure) {
                #expect(try policy.evaluate(evidence, host: "good.example.com", at: now).reported?.reason == .pinMismatch)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(try outcome(.reported, .fails) == nil)
        #expect(try outcome(.enforcedFrom(POSIXTime(seconds: now.seconds + 1)), .fails) == nil)
        #expect(try outcome(.enforced, .reports) == nil)
        #expect(try outcome(.enforced, .fails) == .emptyPins)
        #expect(try outcome(.enforcedFrom(now), .fails) == .emptyPins)
    }

    @Test(
        "A verdict counts the days until the first certificate in its chain expires",
        arguments: [(0, 30), (1, 29), (86_400, 29), (2_592_000, 0), (2_592_001, -1)] as [(Int64, Int)])
    func countsDays(later: Int64, days: Int) throws {
        let policy = try TrustPolicy(anchors: Self.anchors("root"), allowsExpired: true)
        let evidence = ServerEvidence(chain: ["leaf", "middle"].map(Self.file.der))
        let verdict = try policy.evaluate(evidence, host: "good.example.com", at: POSIXTime(seconds: 1_780_272_000 + later))
        #expect(verdict.daysToExpiry == days)
        #expect(verdict.expires == POSIXTime(seconds: 1_780_272_000 + 30 * 86_400))
        #expect(verdict.fingerprint == policy.fingerprint)
    }
}
