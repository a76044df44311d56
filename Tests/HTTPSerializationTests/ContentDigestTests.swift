import HTTPSerialization
import Testing

@Suite("Digests (RFC 9530)")
struct ContentDigestTests {
    private let content = Array("{\"hello\": \"world\"}\n".utf8)

    /// RFC 9530 §B.1 and §2.
    private let sha256 = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
    private let sha512 =
        "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:"

    @Test("The examples of the RFC are written and parsed")
    func makesTheExamples() throws {
        #expect("\(DigestField(of: content))" == sha256)
        #expect("\(DigestField(of: content, by: [.sha256, .sha512]))" == "\(sha256), \(sha512)")
        let field = try #require(DigestField(parsing: [sha512, sha256]))
        #expect(field.digests.map(\.algorithm) == [.sha512, .sha256])
        #expect(field.verdict(on: content) == .matches)
        #expect(field.strongest?.algorithm == .sha512)
    }

    @Test("Different content does not match, even if only one of two digests differs")
    func noticesOthers() throws {
        let field = try #require(DigestField(parsing: [sha256]))
        #expect(field.verdict(on: content + [0]) == .differs(field.digests[0]))
        let mixed = DigestField([ContentDigest(of: content, by: .sha256), ContentDigest(of: [], by: .sha512)])
        #expect(mixed.verdict(on: content) == .differs(mixed.digests[1]))
    }

    @Test("Insecure and unknown algorithms are ignored")
    func knowsNoOthers() throws {
        let field = try #require(DigestField(parsing: ["md5=:rL0Y20zC+Fzt72VPzMSk2A==:, x=:AA==:;p=1"]))
        #expect(field.digests.isEmpty && field.others == ["md5", "x"])
        #expect(field.verdict(on: content) == .unknown)
        #expect(DigestField(parsing: [])?.verdict(on: content) == .unknown)
    }

    @Test(
        "A value that is not a dictionary of byte sequences, or is too short, is rejected",
        arguments: ["sha-256=abc", "sha-256=:AAAA:", "sha-256", "sha-256=(:AA==:)", "=", "sha-256=:****:", "SHA-256=:AA==:"])
    func refusesOthers(value: String) {
        #expect(DigestField(parsing: [value]) == nil)
    }

    @Test("Hashing in pieces gives the same digest, and a hasher can be reused")
    func hashesPieces() {
        let hasher = DigestHasher(.sha512)
        for octet in content { hasher.update([octet].span) }
        #expect(hasher.finish() == ContentDigest(of: content, by: .sha512))
        hasher.update(content.span)
        #expect(hasher.finish() == ContentDigest(of: content, by: .sha512))
        #expect(
            hasher.finish()
                == ContentDigest(
                    "sha512:cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
                ))
    }

    @Test(
        "Hexadecimal digests are parsed in the form that tools print",
        arguments: [
            ("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", true),
            ("SHA-256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855", true),
            ("sha256:e3b0", false), ("md5:d41d8cd98f00b204e9800998ecf8427e", false), ("sha256", false),
            ("sha256:g3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", false),
        ])
    func readsHexadecimal(text: String, isRead: Bool) {
        #expect((ContentDigest(text) == ContentDigest(of: [], by: .sha256)) == isRead)
    }
}
