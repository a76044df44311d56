import Foundation
import ServerTrust
import Testing

@testable import CertificateAuthority

let noon = POSIXTime(seconds: 1_900_000_000)

/// A CA for a test.
func authority(
    _ permitted: [String] = [], days: Int = RootTerms.usualDays, at now: POSIXTime = noon
) throws -> LocalAuthority {
    let constraint = permitted.isEmpty ? nil : try NameConstraint(permitted)
    return try LocalAuthority(
        making: RootTerms(user: "alice", host: "desk", days: days, constraint: constraint), at: now)
}

extension Leaf {
    var facts: CertificateFacts { certificate.facts }

    /// The verdict of `ServerTrust` for a client that trusts only the root.
    func reason(for host: String, root: Certificate, at now: POSIXTime) throws -> TrustFailure.Reason? {
        let policy = try TrustPolicy(anchors: .given(TrustAnchors([root])))
        do {
            _ = try policy.evaluate(ServerEvidence(certificates: [certificate]), host: host, at: now)
            return nil
        } catch {
            return error.reason
        }
    }
}

@Suite("A CA, its root and its leaves (RFC 5280 §4)")
struct LocalAuthorityTests {
    @Test("The root conforms to the profile of RFC 5280, and names its owner")
    func makesRoots() throws {
        let root = try OpenSSLText(authority().root)
        #expect(root.text.contains("Subject: O = Larder local CA, OU = alice@desk, CN = Larder alice@desk "))
        #expect(root.text.contains("ASN1 OID: prime256v1") && root.text.contains("Signature Algorithm: ecdsa-with-SHA256"))
        #expect(root.extension("X509v3 Basic Constraints: critical") == "CA:TRUE, pathlen:0")
        #expect(root.extension("X509v3 Key Usage: critical") == "Certificate Sign, CRL Sign")
        #expect(root.extension("X509v3 Subject Key Identifier: ") != nil)
        #expect(root.extension("X509v3 Extended Key Usage: ") == "TLS Web Server Authentication")
        #expect(root.extension("X509v3 Name Constraints: critical") == nil)
    }

    @Test("A root is valid for the given number of days, and starts a day early", arguments: [1, 365, 3650])
    func lasts(days: Int) throws {
        let facts = try authority(days: days).root.facts
        #expect(facts.notBefore == POSIXTime(seconds: noon.seconds - 86_400))
        #expect(facts.notAfter == POSIXTime(seconds: noon.seconds + Int64(days) * 86_400))
    }

    @Test("The root's name contains the owner, shortened to the length limit and without unprintable characters")
    func namesOwners() throws {
        let terms = RootTerms(user: "bø\u{7}b,CN=x", host: String(repeating: "h", count: 300))
        let made = try LocalAuthority(making: terms, at: noon)
        let subject = made.root.facts.subject
        #expect(subject.contains("b??b\\,CN=x@hhh"))
        let reference = try LocalAuthority(root: Array(made.rootText.utf8), key: Array(made.keyText().utf8))
        #expect(reference.root == made.root)
    }

    @Test(
        "A leaf has only its host's name, and is only for servers",
        arguments: ["origin.test", "xn--mnchen-3ya.test", "192.0.2.7", "2001:db8::7"])
    func makesLeaves(host: String) throws {
        let authority = try authority()
        let leaf = try authority.leaf(for: LeafName(host), at: noon)
        let text = try OpenSSLText(leaf.certificate)
        #expect(text.text.contains("Subject: \n") || text.text.contains("Subject:\n"))
        #expect(leaf.facts.names == [host])
        #expect(text.extension("X509v3 Subject Alternative Name: critical") != nil)
        #expect(text.extension("X509v3 Basic Constraints: critical") == "CA:FALSE")
        #expect(text.extension("X509v3 Key Usage: critical") == "Digital Signature")
        #expect(text.extension("X509v3 Extended Key Usage: ") == "TLS Web Server Authentication")
        let identifier = try #require(OpenSSLText(authority.root).extension("X509v3 Subject Key Identifier: "))
        #expect(text.extension("X509v3 Authority Key Identifier: ") == identifier)
        #expect(try leaf.reason(for: host, root: authority.root, at: noon) == nil)
        #expect(try leaf.reason(for: "other.test", root: authority.root, at: noon) == .hostMismatch)
    }

    @Test("T29: no two roots are equal: each has its own name, number and key")
    func makesUniqueRoots() throws {
        let facts = try (0..<20).map { _ in try authority().root.facts }
        #expect(Set(facts.map(\.subject)).count == 20)
        #expect(Set(facts.map(\.publicKeyDigest)).count == 20)
        #expect(Set(facts.map(\.serialNumber)).count == 20)
    }

    @Test("T29: numbers are positive, have 16 bytes, and are random; a leaf is never a CA certificate")
    func numbersLeaves() throws {
        let authority = try authority()
        let leaves = try (0..<200).map { _ in try authority.leaf(for: LeafName("origin.test"), at: noon) }
        let numbers = leaves.map(\.facts.serialNumber)
        #expect(Set(numbers).count == 200)
        #expect(numbers.allSatisfy { $0.utf8.count == 32 && (0x40...0x7F).contains(UInt8($0.prefix(2), radix: 16) ?? 0) })
        // Each of the last 64 bits has both values among them.
        let tails = numbers.compactMap { UInt64($0.suffix(16), radix: 16) }
        #expect(tails.reduce(0, |) == .max && tails.reduce(.max, &) == 0)
        #expect(leaves.allSatisfy { !$0.certificate.mayIssueLeaves })
    }

    @Test("T29: a leaf's key signs no certificate that clients accept, and differs from the root's")
    func leavesIssueNothing() throws {
        let authority = try authority()
        let leaf = try authority.leaf(for: LeafName("origin.test"), at: noon)
        #expect(leaf.facts.publicKeyDigest != authority.root.facts.publicKeyDigest)
        #expect(throws: AuthorityFault.notAnAuthority) {
            let key = try #require(leaf.keyText)
            _ = try LocalAuthority(root: Array(leaf.certificate.pem.utf8), key: Array(key.utf8))
        }
    }

    @Test("Leaves of one CA share a key; each start has its own")
    func sharesLeafKey() throws {
        let authority = try authority()
        let first = try authority.leaf(for: LeafName("a.test"), at: noon)
        let second = try authority.leaf(for: LeafName("b.test"), at: noon)
        #expect(first.facts.publicKeyDigest == second.facts.publicKeyDigest)
        let again = try LocalAuthority(root: Array(authority.rootText.utf8), key: Array(authority.keyText().utf8))
        #expect(try again.leaf(for: LeafName("a.test"), at: noon).facts.publicKeyDigest != first.facts.publicKeyDigest)
    }

    // MARK: Time

    @Test("A leaf starts a day early and is valid for 150 days, including both ends")
    func leafTimes() throws {
        let authority = try authority(at: POSIXTime(seconds: noon.seconds - 10 * 86_400))
        let leaf = try authority.leaf(for: LeafName("origin.test"), at: noon)
        let first = noon.seconds - 86_400
        let last = first + 150 * 86_400 - 1
        #expect(leaf.facts.notBefore?.seconds == first && leaf.facts.notAfter?.seconds == last)
        let reasons = try [first - 1, first, last, last + 1].map {
            try leaf.reason(for: "origin.test", root: authority.root, at: POSIXTime(seconds: $0))
        }
        #expect(reasons == [.notYetValid, nil, nil, .expired])
    }

    @Test("A leaf starts no earlier and ends no later than its root")
    func keepsWithinTheRoot() throws {
        let authority = try authority(days: 20)
        let leaf = try authority.leaf(for: LeafName("origin.test"), at: noon)
        #expect(leaf.facts.notBefore == authority.root.facts.notBefore && leaf.facts.notAfter == authority.root.facts.notAfter)
        let early = try authority.leaf(for: LeafName("origin.test"), at: #require(authority.root.facts.notBefore))
        #expect(early.facts.notBefore == authority.root.facts.notBefore)
    }

    @Test("Leaves are issued in the root's first and last second, and not outside")
    func refusesOutsideOfTheRootsTime() throws {
        let authority = try authority(days: 20)
        let first = noon.seconds - 86_400
        let last = noon.seconds + 20 * 86_400
        func refusal(_ seconds: Int64) throws -> LeafRefusal? {
            do throws(LeafRefusal) {
                _ = try authority.leaf(for: LeafName.originTest, at: POSIXTime(seconds: seconds))
                return nil
            } catch { return error }
        }
        #expect(try [first - 1, first, last, last + 1].map(refusal) == [.rootNotYetValid, nil, nil, .rootExpired])
    }

    @Test("Dates after 2049 are encoded as in RFC 5280 §4.1.2.5")
    func writesLateDates() throws {
        let late = POSIXTime(seconds: 2_524_607_000)
        let authority = try authority(at: late)
        #expect(authority.root.facts.notAfter?.seconds == late.seconds + Int64(RootTerms.usualDays) * 86_400)
        let leaf = try authority.leaf(for: .originTest, at: late)
        #expect(try leaf.reason(for: "origin.test", root: authority.root, at: late) == nil)
    }

    // MARK: Texts

    @Test("A stored CA is loaded again, with a passphrase too")
    func readsAgain() throws {
        let made = try authority(["corp.test"])
        let root = Array(made.rootText.utf8)
        let plain = try LocalAuthority(root: root, key: Array(made.keyText().utf8))
        #expect(plain.root == made.root && plain.constraint == made.constraint)
        let locked = try Array(made.keyText(passphrase: Array("open sesame".utf8)).utf8)
        #expect(try LocalAuthority(root: root, key: locked, passphrase: Array("open sesame".utf8)).root == made.root)
        #expect(throws: AuthorityFault.passphraseMissing) { try LocalAuthority(root: root, key: locked) }
        #expect(throws: AuthorityFault.passphraseWrong) {
            try LocalAuthority(root: root, key: locked, passphrase: Array("x".utf8))
        }
    }

    @Test("Input that is not a CA is refused with its reason")
    func refuses() throws {
        let made = try authority()
        let root = Array(made.rootText.utf8)
        let key = try Array(made.keyText().utf8)
        let other = try authority()
        func fault(_ root: [UInt8], _ key: [UInt8]) -> AuthorityFault? {
            do throws(AuthorityFault) {
                _ = try LocalAuthority(root: root, key: key)
                return nil
            } catch { return error }
        }
        #expect(fault([], key) == .unreadableCertificate)
        #expect(fault(root + Array(other.rootText.utf8), key) == .unreadableCertificate)
        #expect(fault(Array(root.dropLast(60)), key) == .unreadableCertificate)
        #expect(fault(root, []) == .unreadableKey)
        #expect(fault(root, Array(key.dropLast(60))) == .unreadableKey)
        #expect(fault(root, root) == .unreadableKey)
        #expect(try fault(root, Array(other.keyText().utf8)) == .keyOfAnother)
    }

    @Test("A root made by another program is accepted only if this CA could have made it")
    func refusesOthersRoots() throws {
        func fault(_ extra: String, curve: String = "prime256v1") throws -> AuthorityFault? {
            let made = try OpenSSLRoot(extensions: extra, curve: curve)
            do throws(AuthorityFault) {
                _ = try LocalAuthority(root: made.certificate, key: made.key)
                return nil
            } catch { return error }
        }
        let issuer = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier="
        #expect(try fault(issuer + "hash") == nil)
        #expect(try fault(issuer + "none") == .noKeyIdentifier)
        #expect(try fault("basicConstraints=critical,CA:TRUE", curve: "secp384r1") == .notP256)
        #expect(try fault("basicConstraints=critical,CA:TRUE\nkeyUsage=critical,cRLSign") == .notAnAuthority)
        #expect(try fault("basicConstraints=critical,CA:FALSE") == .notAnAuthority)
        for constraint in [
            "permitted;email:corp.test", "permitted;DNS:corp.test", "excluded;DNS:corp.test",
            "permitted;otherName:1.2.3.4;UTF8:x",
            "permitted;dirName:other",
        ] {
            let words = "\(issuer)hash\nnameConstraints=critical,\(constraint)\n[other]\nCN=Other"
            #expect(try fault(words) == .unknownConstraint, "\(constraint)")
        }
    }

    @Test("T27: neither a CA nor a leaf reveals anything of its keys")
    func keepsKeysToItself() throws {
        let authority = try authority()
        let leaf = try authority.leaf(for: .originTest, at: noon)
        for value in [authority, leaf] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            let shown = "\(value) \(String(reflecting: value)) \(dumped)".lowercased()
            // A digest in Base64 may contain any of these as part of a word.
            for word in shown.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "/" && $0 != "+" }) {
                #expect(!word.hasPrefix("0x") && !["key", "privatekey", "pkey"].contains(word), "\(word) in \(shown)")
            }
        }
        #expect(String(reflecting: authority).contains(authority.root.digest.description))
    }
}

extension LeafName {
    static var originTest: LeafName { try! LeafName("origin.test") }  // it is a name
}
