import HTTPMessage
import ServerTrust
import Testing

@Suite("Which policy applies to which host")
struct TrustPolicySetTests {
    /// A policy that the tests recognize by its pin.
    private static func policy(_ number: UInt8) throws -> TrustPolicy {
        let digest = try #require(SHA256Digest([UInt8](repeating: number, count: 32)))
        return try TrustPolicy(
            anchors: .given(TrustAnchors([VectorFile.shared.certificate("root")])),
            pins: PinSet(.publicKey, [Pin(publicKeyDigest: digest)]))
    }

    private static func set() throws -> TrustPolicySet {
        try TrustPolicySet(
            [
                .init(host: "www.example.com", policy: policy(1)), .init(host: "www.example.com", port: 8443, policy: policy(2)),
                .init(host: "*.example.com", policy: policy(3)), .init(host: "*.example.com", labels: .all, policy: policy(4)),
                .init(host: "*.deep.example.com", labels: .all, policy: policy(5)), .init(host: "192.0.2.1", policy: policy(6)),
                .init(host: "[2001:db8::1]", policy: policy(7)), .init(host: "*.example.com", port: 8443, policy: policy(8)),
                .init(host: "XN--bcher-kva.Example", policy: policy(9)), .init(host: "*.one.test", policy: policy(10)),
            ], fallback: .policy(policy(99)))
    }

    @Test(
        "The most specific entry for a host and port applies",
        arguments: [
            ("www.example.com", 443, 1), ("WWW.Example.COM", 80, 1), ("www.example.com", 8443, 2), ("api.example.com", 443, 3),
            ("api.example.com", 8443, 8), ("a.b.example.com", 443, 4), ("a.b.example.com", 8443, 4), ("deep.example.com", 443, 3),
            ("a.deep.example.com", 443, 5), ("a.b.deep.example.com", 443, 5), ("example.com", 443, 99),
            ("notexample.com", 443, 99),
            ("192.0.2.1", 443, 6), ("::ffff:192.0.2.1", 443, 6), ("[::ffff:c000:201]", 443, 6), ("2001:DB8:0::1", 443, 7),
            ("xn--bcher-kva.example", 443, 9), ("a.one.test", 443, 10), ("a.b.one.test", 443, 99), ("one.test", 443, 99),
        ] as [(String, UInt16, UInt8)])
    func nearestWins(host: String, port: UInt16, number: UInt8) throws {
        let found = try #require(try Self.set().policy(host: host, port: port))
        #expect(found.pins?.pins.first?.publicKeyDigest.octets.first == number)
    }

    @Test(
        "A text that is not a host name or address has no policy, even with a fallback policy",
        arguments: [
            "", "www.example.com.", ".example.com", "a..example.com", "b\u{FC}cher.example", "www.example.com\0", "127.1",
            "*.example.com",
        ])
    func refusesWhatIsNoHost(host: String) throws {
        #expect(try Self.set().policy(host: host, port: 443) == nil)
    }

    @Test(
        "An entry without a valid host is an error",
        arguments: ["", "*", "*.", "a.*.example", "*a.example", "https://a.example", "a.example:443", "a.example."])
    func refusesEntries(host: String) throws {
        let policy = try Self.policy(1)
        #expect(throws: TrustPolicyFault.malformedHost(host)) {
            try TrustPolicySet([.init(host: host, policy: policy)], fallback: .deny)
        }
    }

    @Test("Two entries for one host and port are an error, even in different spellings")
    func refusesRepetition() throws {
        let policy = try Self.policy(1)
        #expect(throws: TrustPolicyFault.repeatedHost("A.example")) {
            try TrustPolicySet(
                [.init(host: "a.example", policy: policy), .init(host: "A.example", policy: policy)], fallback: .deny)
        }
        #expect(throws: TrustPolicyFault.repeatedHost("::ffff:192.0.2.1")) {
            try TrustPolicySet(
                [.init(host: "192.0.2.1", policy: policy), .init(host: "::ffff:192.0.2.1", policy: policy)], fallback: .deny)
        }
    }

    @Test("With the fallback `deny`, an unlisted host is refused before its certificates are judged")
    func denies() throws {
        let set = try TrustPolicySet([.init(host: "a.example", policy: Self.policy(1))], fallback: .deny)
        let failure = try #require(throws: TrustFailure.self) {
            try set.evaluate(ServerEvidence(chain: []), host: "b.example", port: 443, at: POSIXTime(seconds: 0))
        }
        #expect(failure.reason == .hostNotAllowed)
        #expect(failure.host == "b.example")
    }

    @Test(
        "Plain HTTP is forbidden to hosts with enforced pins, in any spelling; on port 80 also if only port 443 has pins",
        arguments: [
            ("pinned.example", 80, true), ("pinned.example.", 8080, true), ("secure.example", 80, true),
            ("secure.example", 8080, false), ("reported.example", 80, false), ("other.example", 80, false),
            ("127.0.0.1", 80, true), ("127.1", 80, true), ("2130706433", 80, true), ("later.example", 80, false),
            ("..", 80, false),
        ] as [(String, UInt16, Bool)])
    func forbidsPlaintext(host: String, port: UInt16, isForbidden: Bool) throws {
        func policy(_ enforcement: PinSet.Enforcement = .enforced) throws -> TrustPolicy {
            let digest = try #require(SHA256Digest([UInt8](repeating: 1, count: 32)))
            let pins = try PinSet(.publicKey, [Pin(publicKeyDigest: digest)], enforcement: enforcement)
            let root = try VectorFile.shared.certificate("root")
            return try TrustPolicy(anchors: .given(TrustAnchors([root])), pins: pins)
        }
        let set = try TrustPolicySet(
            [
                .init(host: "pinned.example", policy: policy()), .init(host: "secure.example", port: 443, policy: policy()),
                .init(host: "reported.example", policy: policy(.reported)), .init(host: "127.0.0.1", policy: policy()),
                .init(host: "later.example", policy: policy(.enforcedFrom(POSIXTime(seconds: 2_000_000_000)))),
            ], fallback: .deny)
        #expect(set.hasPins)
        func isForbiddenAt(_ seconds: Int64) -> Bool {
            switch set.plaintext(toHost: host, port: port, at: POSIXTime(seconds: seconds)) {
            case .forbidden: true
            case .allowed: false
            }
        }
        #expect(isForbiddenAt(1_800_000_000) == isForbidden)
        #expect(isForbiddenAt(2_000_000_000) == (isForbidden || host == "later.example"))
        // The answer may be cached until the second before the pins are enforced.
        if case .allowed(let until) = set.plaintext(toHost: host, port: port, at: POSIXTime(seconds: 1_800_000_000)) {
            #expect(until?.seconds == (host == "later.example" ? 1_999_999_999 : nil))
        }
    }

    @Test("A policy's mark changes when its pins are enforced, when they expire and when its weak terms end")
    func marks() throws {
        let digest = try #require(SHA256Digest([UInt8](repeating: 1, count: 32)))
        let anchors = TrustPolicy.Anchors.given(try TrustAnchors([VectorFile.shared.certificate("root")]))
        let policy = try TrustPolicy(
            anchors: anchors,
            pins: PinSet(
                .publicKey, [Pin(publicKeyDigest: digest)], enforcement: .enforcedFrom(POSIXTime(seconds: 100)),
                expires: POSIXTime(seconds: 300)), allowsExpired: true, weakUntil: POSIXTime(seconds: 200))
        let changes = [0, 99, 100, 200, 201, 300, 301].map { policy.nextChange(after: POSIXTime(seconds: $0))?.seconds }
        #expect(changes == [99, 99, 200, 200, 300, 300, nil])
        let marks = [0, 99, 100, 200, 201, 300, 301].map { policy.mark(at: POSIXTime(seconds: $0)) }
        #expect(marks[0] == marks[1] && marks[2] == marks[3] && marks[4] == marks[5])
        #expect(Set(marks).count == 4 && marks.allSatisfy { $0 >= TrustPolicy.leastMark })
        #expect(try TrustPolicy(anchors: anchors).mark(at: POSIXTime(seconds: 0)) != marks[0])
    }
}
