import HTTPMessage
import Testing

@testable import ClientPasswords

@Suite("Recently verified credentials")
struct VerifiedCredentialsTests {
    private let file: PasswordFile

    init() throws { file = try PasswordFile(parsing: Array("alice:\(Fixtures.openSesame)".utf8)) }

    private func digest(_ number: Int) throws -> CredentialsDigest { file.digest(of: try Fixtures.credentials("u:\(number)")) }

    @Test("Each entry is remembered exactly until it expires")
    func ends() throws {
        let verified = Held(VerifiedCredentials(limits: CredentialsLimits()))
        #expect(!verified.contains(try digest(1), at: 0))
        verified.insert(try digest(1), at: 1_000)
        #expect(verified.contains(try digest(1), at: 1_000))
        #expect(verified.contains(try digest(1), at: 1_000 + 3_599_999))
        #expect(!verified.contains(try digest(2), at: 1_000))
        #expect(!verified.contains(try digest(1), at: 1_000 + 3_600_000))
        #expect(verified.count == 0)
    }

    @Test("The number of entries is limited: expired entries are removed first, then the entry that expires first")
    func isBounded() throws {
        var limits = CredentialsLimits()
        limits.verifiedCount = 3
        limits.verifiedMilliseconds = 100
        let verified = Held(VerifiedCredentials(limits: limits))
        for number in 0..<4 { verified.insert(try digest(number), at: Int64(number)) }
        #expect(verified.count == 3)
        #expect(!verified.contains(try digest(0), at: 3))
        for number in 1..<4 { #expect(verified.contains(try digest(number), at: 3)) }
        verified.insert(try digest(9), at: 102)
        #expect(verified.count == 2)
        #expect(verified.contains(try digest(3), at: 102))
    }
}

@Suite("Password attempts per address")
struct AttemptAllowancesTests {
    private let client = IPAddress(ipv4: 0xC000_0201)

    @Test("An address may make an initial number of attempts at once, then one more per interval")
    func comesBack() {
        let allowances = Held(AttemptAllowances(limits: CredentialsLimits()))
        for _ in 0..<20 { #expect(allowances.take(for: client, at: 0)) }
        #expect(!allowances.take(for: client, at: 2_999))
        #expect(allowances.take(for: client, at: 3_000))
        #expect(!allowances.take(for: client, at: 3_000))
        // The elapsed part of the next interval still counts.
        #expect(!allowances.take(for: client, at: 5_999))
        #expect(allowances.take(for: client, at: 6_000))
        var taken = 0
        while allowances.take(for: client, at: 100_000_000) { taken += 1 }
        #expect(taken == 20)
    }

    @Test("Of 10,000 guesses in a minute, 40 are verified")
    func boundsGuessing() {
        let allowances = Held(AttemptAllowances(limits: CredentialsLimits()))
        let looked = (0..<10_000).count { allowances.take(for: client, at: Int64($0) * 6) }
        #expect(looked == 39)
    }

    @Test("A correct password does not count as an attempt, and addresses are independent")
    func givesBack() {
        let allowances = Held(AttemptAllowances(limits: CredentialsLimits()))
        for _ in 0..<1000 {
            #expect(allowances.begin(for: client, at: 0) == .granted)
            allowances.end(for: client, isGood: true, at: 0)
        }
        #expect(allowances.count == 0)
        while allowances.take(for: client, at: 0) {}
        #expect(allowances.take(for: IPAddress(ipv4: 0xC000_0202), at: 0))
    }

    @Test("One address may send many correct passwords at once; simultaneous wrong guesses use up its later attempts")
    func countsAtTheEnd() {
        let allowances = Held(AttemptAllowances(limits: CredentialsLimits()))
        for _ in 0..<96 { #expect(allowances.begin(for: client, at: 0) == .granted) }
        #expect(allowances.begin(for: client, at: 0) == .busy)
        for _ in 0..<60 { allowances.end(for: client, isGood: true, at: 0) }
        #expect(allowances.begin(for: client, at: 0) == .granted)
        allowances.end(for: client, isGood: true, at: 0)
        for _ in 0..<36 { allowances.end(for: client, isGood: false, at: 0) }
        // Sixteen more than the allowance.
        #expect(allowances.begin(for: client, at: 16 * 3_000 + 2_999) == .exhausted)
        #expect(allowances.begin(for: client, at: 17 * 3_000) == .granted)
    }

    @Test("IPv6 addresses count by their first 64 bits")
    func countsNetworks() {
        let allowances = Held(AttemptAllowances(limits: CredentialsLimits()))
        let taken = (0..<1000).count { allowances.take(for: IPAddress(ipv6High: 0x2001_0DB8, low: UInt64($0)), at: 0) }
        #expect(taken == 20)
        #expect(allowances.take(for: IPAddress(ipv6High: 0x2001_0DB9, low: 0), at: 0))
    }

    @Test(
        "The number of addresses is limited: addresses that have all attempts back are removed first, then the one counted longest ago"
    )
    func isBounded() {
        var limits = CredentialsLimits()
        limits.addresses = 3
        let allowances = Held(AttemptAllowances(limits: limits))
        for number in 0..<100 { #expect(allowances.take(for: IPAddress(ipv4: UInt32(number)), at: Int64(number))) }
        #expect(allowances.count == 3)
        #expect(allowances.take(for: client, at: 1_000_000))
        #expect(allowances.count == 1)
    }
}

/// The value of an expectation whose evaluation changes it.
private final class Held<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

extension Held<VerifiedCredentials> {
    var count: Int { value.count }
    func contains(_ digest: CredentialsDigest, at now: Int64) -> Bool { value.contains(digest, at: now) }
    func insert(_ digest: CredentialsDigest, at now: Int64) { value.insert(digest, at: now) }
}

extension Held<AttemptAllowances> {
    var count: Int { value.count }
    func begin(for client: IPAddress, at now: Int64) -> AttemptAllowances.Beginning { value.begin(for: client, at: now) }
    func end(for client: IPAddress, isGood: Bool, at now: Int64) { value.end(for: client, isGood: isGood, at: now) }

    /// A failed verification.
    func take(for client: IPAddress, at now: Int64) -> Bool {
        guard value.begin(for: client, at: now) == .granted else { return false }
        value.end(for: client, isGood: false, at: now)
        return true
    }
}
