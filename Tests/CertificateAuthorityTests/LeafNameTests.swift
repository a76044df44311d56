import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import CertificateAuthority

@Suite("Names of leaves (RFC 5280 §4.2.1.6, RFC 9525)")
struct LeafNameTests {
    private static func label(_ count: Int) -> String { String(repeating: "a", count: count) }

    /// 253 bytes, the longest possible name.
    private static let longest = [63, 63, 63, 61].map(label).joined(separator: ".")

    static func fault(_ host: String, permitsWildcard: Bool = false) -> LeafName.Fault? {
        do throws(LeafName.Fault) {
            _ = try LeafName(host, permitsWildcard: permitsWildcard)
            return nil
        } catch { return error }
    }

    @Test(
        "Names in A-labels and addresses are accepted, in one spelling",
        arguments: [
            ("Origin.TEST", "origin.test"), ("localhost", "localhost"),
            ("r3---sn-4g5e6nez.video.test", "r3---sn-4g5e6nez.video.test"),
            ("a_b.test", "a_b.test"), ("xn--mnchen-3ya.test", "xn--mnchen-3ya.test"), ("192.0.2.7", "192.0.2.7"),
            ("[2001:DB8::7]", "2001:db8::7"), ("2001:db8:0:0::7", "2001:db8::7"),
        ])
    func reads(host: String, name: String) throws {
        #expect(try LeafName(host).description == name)
    }

    @Test("A label may have 63 bytes and a name 253, and no more")
    func bounds() throws {
        #expect(Self.fault("\(Self.label(63)).test") == nil && Self.fault("\(Self.label(64)).test") == .malformed)
        #expect(Self.longest.utf8.count == 253 && Self.fault(Self.longest) == nil && Self.fault(Self.longest + "a") == .malformed)
        let authority = try authority()
        let leaf = try authority.leaf(for: LeafName(Self.longest), at: noon)
        #expect(leaf.facts.names == [Self.longest])
        #expect(try leaf.reason(for: Self.longest, root: authority.root, at: noon) == nil)
    }

    @Test(
        "An invalid name is refused with its reason",
        arguments: [
            ("", .malformed), ("a.test.", .malformed), ("a..test", .malformed), (".test", .malformed),
            ("a.test\0.evil", .malformed),
            ("a b.test", .malformed), ("a,DNS:b.test", .malformed), ("a/b", .malformed), ("a:80", .malformed),
            ("1.2.3", .malformed),
            ("0x7f000001", .malformed), ("[192.0.2.7]", .malformed), ("fe80::1%eth0", .malformed), ("münchen.test", .notASCII),
            ("*.corp.test", .wildcard), ("*", .wildcard), ("a*.corp.test", .wildcard),
        ] as [(String, LeafName.Fault)])
    func refuses(host: String, fault: LeafName.Fault) {
        #expect(Self.fault(host) == fault)
    }

    @Test("A wildcard is accepted where it is permitted, for one whole label before two others")
    func wildcards() throws {
        let authority = try authority(["corp.test"])
        let leaf = try authority.leaf(for: LeafName("*.corp.test", permitsWildcard: true), at: noon)
        #expect(try leaf.reason(for: "a.corp.test", root: authority.root, at: noon) == nil)
        #expect(try leaf.reason(for: "a.b.corp.test", root: authority.root, at: noon) == .hostMismatch)
        for host in ["*.test", "*.*.corp.test", "a.*.test", "*corp.test", "*.192.0.2.7", "*.\(Self.longest)"] {
            #expect(Self.fault(host, permitsWildcard: true) == .wildcard, "\(host)")
        }
        #expect(throws: LeafRefusal.outsideConstraint) {
            try authority.leaf(for: LeafName("*.evil.test", permitsWildcard: true), at: noon)
        }
    }

    @Test(
        "Any text is either a name that a leaf contains exactly and a client accepts, or is refused",
        arguments: [1, 2, 3, 4] as [UInt64])
    func anyText(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let authority = try authority()
        let pieces = [
            "a", "Z", "0", "9", ".", ".", "-", "_", "*", "xn--", "\0", ",", ":", " ", "ü", "test", "127", "[", "]", "/", "%",
        ]
        var namedCount = 0
        for _ in 0..<400 {
            let host = (0..<chance.below(12)).map { _ in chance.one(of: pieces) }.joined()
            guard let name = try? LeafName(host) else { continue }  // for any reason
            namedCount += 1
            let leaf = try authority.leaf(for: name, at: noon)
            #expect(leaf.facts.names == [name.description], "\(host)")
            #expect(try leaf.reason(for: host, root: authority.root, at: noon) == nil, "\(host)")
        }
        #expect(namedCount > 10)
    }
}
