import ServerTrust
import Testing

@Suite("Evidence with a bit changed (T30)")
struct ChangedBitTests {
    private static let file = VectorFile.shared
    private static let now = POSIXTime(seconds: 1_780_272_000)

    /// Copies of the bytes, each with one bit inverted: one copy for every fourth byte.
    private static func changed(_ octets: [UInt8]) -> some Sequence<[UInt8]> {
        stride(from: 0, to: octets.count, by: 4).lazy.map { index in
            var copy = octets
            copy[index] ^= 1 << UInt8(index / 4 % 8)
            return copy
        }
    }

    private static func isBelieved(_ evidence: ServerEvidence, by policy: TrustPolicy) -> Bool {
        do {
            _ = try policy.evaluate(evidence, host: "good.example.com", at: now)
            return true
        } catch {
            return false
        }
    }

    @Test("A chain is refused if any bit of a certificate changes", arguments: [0, 1])
    func certificate(place: Int) throws {
        let policy = try TrustPolicy(anchors: .given(TrustAnchors([Self.file.certificate("root")])))
        let chain = ["leaf", "middle"].map(Self.file.der)
        #expect(Self.isBelieved(ServerEvidence(chain: chain), by: policy))
        for octets in Self.changed(chain[place]) {
            var changedChain = chain
            changedChain[place] = octets
            #expect(!Self.isBelieved(ServerEvidence(chain: changedChain), by: policy))
        }
    }

    @Test("A certificate whose signature has a set unused bit is not read: OpenSSL would write it back without the bit")
    func bitsThatDoNotCount() throws {
        var octets = Self.file.der("leaf")
        let signature = try #require(
            octets.indices.last { $0 + 2 < octets.count && octets[$0] == 3 && Int(octets[$0 + 1]) == octets.count - $0 - 2 })
        #expect(Certificate(der: octets) != nil && octets[signature + 2] == 0)
        octets[signature + 2] = 1
        octets[octets.count - 1] |= 1
        #expect(Certificate(der: octets) == nil)
    }

    @Test("No changed bit in a response makes a revoked certificate valid", arguments: ["revoked", "revokedByResponder"])
    func staple(label: String) throws {
        let policy = try TrustPolicy(
            anchors: .given(TrustAnchors([Self.file.certificate("root")])), revocation: Revocation(stapleCheck: .hard))
        let chain = ["leaf", "middle"].map(Self.file.der)
        for octets in Self.changed(Array(try #require(Self.file.responses[label]))) {
            #expect(!Self.isBelieved(ServerEvidence(chain: chain, stapledResponse: octets), by: policy))
        }
    }

    @Test("No changed bit in a revocation list makes a revoked certificate valid")
    func list() throws {
        let anchors = try TrustPolicy.Anchors.given(TrustAnchors([Self.file.certificate("root")]))
        let evidence = ServerEvidence(chain: ["leaf", "middle"].map(Self.file.der))
        let root = Array(try #require(Self.file.lists["root"]))
        for octets in Self.changed(Array(try #require(Self.file.lists["middleLeafRevoked"]))) {
            // A revocation list that cannot be read is rejected before a policy is made.
            guard let lists = try? RevocationLists([root, octets]) else { continue }
            let policy = try TrustPolicy(anchors: anchors, revocation: Revocation(lists: lists, listCheck: .hard))
            #expect(!Self.isBelieved(evidence, by: policy))
        }
    }
}
