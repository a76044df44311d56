import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import SignedEntries

@Suite("Shared entries: what a reader refuses")
struct OpeningTests {
    private let response = TestFarm.response()
    private var expected: EntryExpectation { TestFarm.expectation(of: response) }

    @Test("An entry under another key is refused")
    func otherKey() throws {
        let farm = TestFarm()
        let sealed = try farm.sealed(TestFarm.entry(response))
        var other = expected
        other.key = Array("http://origin.example:80/another".utf8)
        #expect(farm.opener().rejection(sealed.bytes, other) == .otherKey)
    }

    @Test("An entry of another farm is refused, even if both farms trust its signer")
    func otherFarm() throws {
        let farm = TestFarm()
        let other = TestFarm(keys: FarmKeys(farm: FarmID(), keys: farm.keys.keys)!, signing: farm.signing)
        let sealed = try other.sealed(TestFarm.entry(response))
        #expect(farm.opener().rejection(sealed.bytes, expected) == .otherFarm)
        // The farm's name is signed too.
        var renamed = sealed.bytes
        renamed.replaceSubrange(95..<111, with: farm.keys.farm.octets)
        #expect(farm.opener().rejection(renamed, expected) == .signature)
    }

    @Test(
        "Entries are used for seven days after they were signed, and clocks may differ by ten minutes",
        arguments: [
            (-601, EntryRejection.clock), (-600, nil), (0, nil), (7 * 86_400, nil), (7 * 86_400 + 1, .tooOld),
        ] as [(Int64, EntryRejection?)])
    func times(row: (seconds: Int64, rejection: EntryRejection?)) throws {
        let farm = TestFarm()
        let sealed = try farm.sealed(TestFarm.entry(response))
        let now = TestFarm.now.advanced(seconds: row.seconds)
        #expect(farm.opener().rejection(sealed.bytes, expected, at: now) == row.rejection)
    }

    @Test("An entry of another epoch, or of an earlier generation, is refused")
    func positions() throws {
        let farm = TestFarm()
        let sealed = try farm.sealed(TestFarm.entry(response, generation: 7))
        var other = expected
        other.oldestGeneration = 7
        #expect(farm.opener().rejection(sealed.bytes, other) == nil)
        other.oldestGeneration = 8
        #expect(farm.opener().rejection(sealed.bytes, other) == .oldGeneration)
        other = expected
        other.epoch = [9]
        #expect(farm.opener().rejection(sealed.bytes, other) == .otherEpoch)
    }

    @Test("An entry of a signer that is not trusted, or is revoked, is refused")
    func signers() throws {
        let farm = TestFarm()
        let sealed = try farm.sealed(TestFarm.entry(response))
        let stranger = EntryOpener(keys: farm.keys, trusted: TestFarm().trusted)
        #expect(stranger.rejection(sealed.bytes, expected) == .unknownSigner)
        let revoking = EntryOpener(
            keys: farm.keys, trusted: TrustedSigners(farm.trusted.signers, revoked: [farm.signing.keys[0].id]))
        #expect(revoking.rejection(sealed.bytes, expected) == .revokedSigner)
        // A stranger cannot put its signature under the name of a trusted key.
        let forger = TestFarm(keys: farm.keys, signing: TestFarm().signing)
        var forged = try forger.sealed(TestFarm.entry(response)).bytes
        forged.replaceSubrange(1..<17, with: sealed.bytes[1..<17])
        #expect(farm.opener().rejection(forged, expected) == .signature)
    }

    @Test("A node without the farm key opens nothing")
    func farmKeys() throws {
        let farm = TestFarm()
        let sealed = try farm.sealed(TestFarm.entry(response))
        let keys = FarmKeys(farm: farm.keys.farm, keys: [FarmKey.new(start: TestFarm.now)])!
        #expect(EntryOpener(keys: keys, trusted: farm.trusted).rejection(sealed.bytes, expected) == .otherKey)
    }

    @Test("During a rotation of the farm key, nodes with both keys read the entries under both")
    func rotation() throws {
        let farm = TestFarm()
        let start = TestFarm.now.advanced(seconds: 3600)
        let both = TestFarm(
            keys: FarmKeys(farm: farm.keys.farm, keys: farm.keys.keys + [FarmKey.new(start: start)])!, signing: farm.signing)
        let (before, after) = (start.advanced(seconds: -1), start)
        let names = EntryNames(both.keys)
        #expect(names.name(of: response.key, at: before) == EntryNames(farm.keys).name(of: response.key, at: before))
        #expect(names.name(of: response.key, at: after) != names.name(of: response.key, at: before))
        #expect(names.formerName(of: response.key, at: after) == names.name(of: response.key, at: before))
        #expect(names.formerName(of: response.key, at: before) == nil)
        #expect(Set(names.allNames(of: response.key)).count == 2)
        for time in [before, after] {
            let sealed = try both.sealed(TestFarm.entry(response), at: time)
            #expect(sealed.prepared.name == names.name(of: response.key, at: time))
            #expect(both.opener().rejection(sealed.bytes, expected, at: after) == nil)
            #expect((farm.opener().rejection(sealed.bytes, expected, at: after) == nil) == (time == before))
        }
    }

    @Test(
        "A response that only an unsafe rule stored is refused, even with a good signature",
        arguments: [
            ReuseFacts.Flags.private, .noStore,
        ])
    func notShareable(flag: ReuseFacts.Flags) throws {
        let farm = TestFarm()
        var facts = response.facts
        facts.flags.insert(flag)
        let wrong = StoredResponse(
            key: response.key, nominatedFields: [], facts: facts, head: response.head, requestTime: response.requestTime,
            body: response.body)
        let sealed = try farm.sealed(TestFarm.entry(wrong))
        #expect(farm.opener().rejection(sealed.bytes, expected) == .notShareable)
    }

    @Test("Another version is a reason of its own, and an entry beyond the limit is not read")
    func versionsAndLimits() throws {
        let farm = TestFarm()
        var bytes = try farm.sealed(TestFarm.entry(response)).bytes
        #expect(farm.opener().rejection([], expected) == .malformed)
        #expect(farm.opener().rejection(bytes + [0], expected) == .signature)
        #expect(farm.opener().rejection(bytes + [UInt8](repeating: 0, count: EntryLimits.entry), expected) == .tooLarge)
        bytes[0] = 2
        #expect(farm.opener().rejection(bytes, expected) == .version)
    }

    @Test("The words of the reasons are distinct")
    func words() {
        #expect(Set(EntryRejection.allCases.map(\.rawValue)).count == EntryRejection.allCases.count)
    }
}
