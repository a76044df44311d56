import ServerTrust
import TestSupport
import Testing

@testable import CertificateAuthority

@Suite("Name constraints (RFC 5280 §4.2.1.10)")
struct NameConstraintTests {
    @Test("The root has the constraint as a critical extension, which excludes everything that is not permitted")
    func standsInTheRoot() throws {
        let domains = try OpenSSLText(authority(["corp.test", "Lab.Example"]).root)
        #expect(
            domains.text.contains(
                """
                            X509v3 Name Constraints: critical
                                Permitted:
                                  DNS:corp.test
                                  DNS:lab.example
                                Excluded:
                                  IP:0.0.0.0/0.0.0.0
                                  IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0
                """), "\(domains.text)")
        let ranges = try OpenSSLText(authority(["10.1.2.3/8"]).root)
        #expect(
            ranges.text.contains(
                """
                                Permitted:
                                  IP:10.0.0.0/255.0.0.0
                                Excluded:
                                  DNS:
                                  IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0
                """), "\(ranges.text)")
    }

    @Test(
        "T28: no leaf is issued outside the constraint, and clients accept leaves within it",
        arguments: [
            ("corp.test", true), ("a.corp.test", true), ("A.B.Corp.Test", true), ("evilcorp.test", false), ("test", false),
            ("corp.test.evil", false), ("orp.test", false), ("10.255.0.1", true), ("11.0.0.1", false), ("2001:db8::1", true),
            ("2001:db9::1", false), ("::ffff:10.0.0.1", false),
        ])
    func holds(host: String, isPermitted: Bool) throws {
        let authority = try authority(["corp.test", "10.0.0.0/8", "2001:db8::/32"])
        let name = try LeafName(host)
        #expect(authority.constraint?.permits(name) == isPermitted)
        if isPermitted {
            let leaf = try authority.leaf(for: name, at: noon)
            #expect(try leaf.reason(for: host, root: authority.root, at: noon) == nil)
        } else {
            #expect(throws: LeafRefusal.outsideConstraint) { try authority.leaf(for: name, at: noon) }
        }
    }

    @Test("T28: an ephemeral CA, which is never stored, refuses likewise")
    func holdsInMemory() throws {
        let ephemeral = try authority(["corp.test"], days: 1)
        #expect(throws: LeafRefusal.outsideConstraint) { try ephemeral.leaf(for: LeafName("bank.example"), at: noon) }
        #expect(throws: LeafRefusal.outsideConstraint) { try ephemeral.leaf(for: LeafName("127.0.0.1"), at: noon) }
        #expect(try ephemeral.leaf(for: LeafName("www.corp.test"), at: noon).facts.names == ["www.corp.test"])
    }

    /// The certificate enforces the constraint, not this program: another program with the key cannot bypass it.
    @Test(
        "T28: clients reject certificates outside the constraint, whoever signs them with the key",
        arguments: [1, 2, 3] as [UInt64])
    func bindsClients(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let constrained = try authority(["corp.test", "lab.example", "10.0.0.0/8"])
        let stolen = try Thief(of: constrained)
        let hosts = [
            "corp.test", "lab.example", "10.1.1.1", "192.0.2.1", "2001:db8::1", "bank.example", "corp.test.bank.example",
        ]
        for _ in 0..<60 {
            var host = chance.one(of: hosts)
            if chance.chance(40), host.contains("t") { host = chance.one(of: ["a.", "xcorp", "b.c."]) + host }
            guard let name = try? LeafName(host) else { continue }  // an address with a label before it
            let isPermitted = try #require(constrained.constraint).permits(name)
            let reason = try stolen.leaf(for: name).reason(for: host, root: constrained.root, at: noon)
            #expect(reason == (isPermitted ? nil : .nameConstraint), "\(host)")
        }
    }

    @Test("A root's constraint is read as it was written", arguments: [1, 2, 3, 4] as [UInt64])
    func readsAgain(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let items = (0...chance.below(6)).map { _ in
                switch chance.below(3) {
                case 0: "d\(chance.below(9)).test"
                case 1: "10.\(chance.below(256)).0.0/\(chance.below(33))"
                default: "2001:db8:\(chance.below(9))::/\(chance.below(129))"
                }
            }
            let made = try authority(items)
            let read = try LocalAuthority(root: Array(made.rootText.utf8), key: Array(made.keyText().utf8))
            let given = try NameConstraint(items)
            #expect(read.constraint == made.constraint && read.constraint == given, "\(items)")
        }
    }

    @Test("An item that is neither a domain nor a range is refused")
    func refuses() throws {
        func fault(_ items: [String]) -> NameConstraint.Fault? {
            do throws(NameConstraint.Fault) {
                _ = try NameConstraint(items)
                return nil
            } catch { return error }
        }
        #expect(fault([]) == .count)
        let many = (0..<NameConstraint.itemLimit).map { "d\($0).test" }
        #expect(fault(many) == nil && fault(many + ["one.more"]) == .count)
        #expect(fault(["*.corp.test"]) == .pattern("*.corp.test") && fault([".corp.test"]) == .pattern(".corp.test"))
        for item in ["", "corp.test.", "10.0.0.0/33", "a b", "münchen.test", "10.0.0.0/255.0.0.0"] {
            #expect(fault([item]) == .malformed(item))
        }
    }
}

/// Signs with a CA's key what the CA itself would refuse.
private struct Thief {
    private let authority: LocalAuthority
    private let key: PrivateKey

    init(of authority: LocalAuthority) throws {
        self.authority = authority
        key = try PrivateKey(pem: Array(authority.keyText().utf8))
    }

    func leaf(for name: LeafName) throws -> Leaf {
        let validity = try #require(CertificateValidity(of: authority.root))
        let request = CertificateRequest(
            serial: try #require(SerialNumber.drawn()), subject: [], validity: validity, key: authority.leafKey,
            extensions: [name.certificateExtension])
        let certificate = try #require(request.signed(by: authority.root, key: key))
        return Leaf(name: name, certificate: certificate, key: authority.leafKey, validity: validity, endsWithRoot: true)
    }
}
