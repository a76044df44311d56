import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import SignedEntries

@Suite("Shared entries: attacks by a party that can write into the engine")
struct AttackTests {
    /// Ten seeds with 1,000 attacks each.
    @Test("No forged, replayed, swapped, truncated or damaged entry is opened", arguments: Array(1...10 as ClosedRange<UInt64>))
    func attacks(seed: UInt64) throws {
        var stage = try Stage(SeededGenerator(seed: seed))
        var reasons: [EntryRejection: Int] = [:]
        for number in 0..<1000 {
            let (bytes, expected) = stage.attack()
            let reason = stage.opener.rejection(bytes, expected)
            #expect(reason != nil, "attack \(number) of seed \(seed) was opened")
            if let reason { reasons[reason, default: 0] += 1 }
        }
        // The attacks reach the checks behind each other.
        for reason in [
            EntryRejection.malformed, .otherKey, .otherFarm, .signature, .unknownSigner, .revokedSigner, .oldGeneration,
        ] {
            #expect(reasons[reason, default: 0] > 0, "\(reason)")
        }
        // The entries themselves are still opened: the attacks have left no trace in the reader.
        for (bytes, expected) in stage.entries { #expect(stage.opener.rejection(bytes, expected) == nil) }
    }

    @Test(
        "With encryption, the stored bytes contain no 8 bytes of a URL, a head or a body",
        arguments: Array(1...2 as ClosedRange<UInt64>))
    func secrecy(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let farm = TestFarm()
        let sealer = farm.sealer()
        let body = (0..<150_000).map { _ in UInt8(random.below(64)) + 32 }
        let chain = RecordedChain((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 >> 8) })!
        let names = EntryNames(farm.keys)
        var secrets: Set<UInt64> = []
        var stored: [[UInt8]] = [sealer.seal(chain, at: TestFarm.now), names.chain(chain.digest, at: TestFarm.now).octets]
        note(chain.octets, in: &secrets)
        for (number, length) in [0, 100, 16_000, 150_000].enumerated() {
            let response = TestFarm.response(
                "https://secret-host.example:443/private/path?\(number)", body: Array(body.prefix(length)),
                fields: [
                    ("Cache-Control", "max-age=600"), ("X-Secret-Name", "a value that is secret"), ("ETag", "\"secret-tag\""),
                ],
                nominated: Array("accept-language\0secret-language".utf8), tags: ["secret-tag-of-a-rule"], chain: chain)
            let prepared = try sealer.prepare(TestFarm.entry(response), at: TestFarm.now)
            let sealed = try #require(sealer.seal([prepared], at: TestFarm.now))[0]
            stored += [sealed.bytes, prepared.name.octets, prepared.variant.octets] + (prepared.pieces?.pieces ?? [])
            for secret in [response.key, response.nominatedFields, response.preparedHead, response.bytes, chain.digest] {
                note(secret, in: &secrets)
            }
            note(Array("secret-tag-of-a-rule".utf8), in: &secrets)
        }
        for bytes in stored { #expect(!contains(bytes, secrets)) }
        // The search finds the same secrets in entries without encryption.
        let plain = try farm.sealed(TestFarm.entry(TestFarm.response(chain: chain)), isEncrypting: false)
        #expect(contains(plain.bytes, secrets))
    }

    @Test("No two entries have the same salt, name of pieces or ciphertext, even of the same response")
    func salts() throws {
        let farm = TestFarm()
        let sealer = farm.sealer()
        let entry = TestFarm.entry(TestFarm.response(body: [UInt8](repeating: 1, count: EntryLimits.piece * 2)))
        let prepared = try (0..<200).map { _ in try sealer.prepare(entry, at: TestFarm.now) }
        let payload = SealedLayout.leafHead
        #expect(Set(prepared.map { Array($0.leaf[(payload + 8)..<(payload + 40)]) }).count == 200)
        #expect(Set(prepared.map { $0.pieces!.body.name }).count == 200)
        // Two equal pieces have different ciphertexts, because their nonces differ.
        #expect(Set(prepared.flatMap { $0.pieces!.pieces }).count == 400)
    }

    private func note(_ bytes: [UInt8], in windows: inout Set<UInt64>) {
        forEachWindow(of: bytes) { windows.insert($0) }
    }

    private func contains(_ bytes: [UInt8], _ windows: Set<UInt64>) -> Bool {
        var isFound = false
        forEachWindow(of: bytes) { isFound = isFound || windows.contains($0) }
        return isFound
    }

    private func forEachWindow(of bytes: [UInt8], _ work: (UInt64) -> Void) {
        var window: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            window = window << 8 | UInt64(byte)
            if index >= 7 { work(window) }
        }
    }
}

/// A reader that has opened good entries, and an attacker with copies of them and with keys of its own.
private struct Stage {
    let opener: EntryOpener
    let entries: [([UInt8], EntryExpectation)]
    /// Entries of other farms, of strangers, and of a revoked key, each for a key that the reader asks for.
    private let foreign: [([UInt8], EntryExpectation)]
    private let originals: Set<[UInt8]>
    private var random: SeededGenerator

    init(_ generator: SeededGenerator) throws {
        random = generator
        let farm = TestFarm()
        let revoked = TestFarm(keys: farm.keys, signing: TestFarm().signing)
        let responses = (0..<12).map { number in
            TestFarm.response("http://origin.example:80/\(number)", body: [UInt8](repeating: UInt8(number), count: number * 50))
        }
        let expectations = responses.map(TestFarm.expectation)
        // What an attacker would like to serve under the same keys.
        let forgeries = responses.map { TestFarm.response(String(decoding: $0.key, as: UTF8.self), body: Array("forged".utf8)) }
        func sealed(_ responses: [StoredResponse], by farm: TestFarm, isEncrypting: Bool) throws -> [[UInt8]] {
            let sealer = farm.sealer(isEncrypting: isEncrypting)
            let prepared = try responses.map { try sealer.prepare(TestFarm.entry($0), at: TestFarm.now) }
            return sealer.seal(prepared, at: TestFarm.now)!.map(\.bytes)
        }
        let good = try [true, false].flatMap { try sealed(responses, by: farm, isEncrypting: $0) }
        entries = Array(zip(good, expectations + expectations))
        let others = [
            // A stranger with the farm key, another farm with a trusted signing key, a revoked key, a stranger without the farm key.
            TestFarm(keys: farm.keys, signing: TestFarm().signing),
            TestFarm(keys: FarmKeys(farm: FarmID(), keys: farm.keys.keys)!, signing: farm.signing),
            revoked,
            TestFarm(keys: FarmKeys(farm: farm.keys.farm, keys: [FarmKey.new(start: TestFarm.now)])!, signing: farm.signing),
        ]
        foreign = try others.flatMap { other in
            try [true, false].flatMap { Array(zip(try sealed(forgeries, by: other, isEncrypting: $0), expectations)) }
        }
        originals = Set(entries.map(\.0))
        opener = EntryOpener(
            keys: farm.keys,
            trusted: TrustedSigners(
                farm.trusted.signers + revoked.trusted.signers, revoked: revoked.signing.keys.map(\.id)))
        // The reader knows the signatures of the good entries, which is the easier case for an attacker.
        for (bytes, expected) in entries { _ = try opener.open(bytes, expected, at: TestFarm.now) }
    }

    /// Bytes, and the request to which the attacker serves them.
    mutating func attack() -> ([UInt8], EntryExpectation) {
        let (original, expected) = random.one(of: entries)
        while true {
            var bytes = original
            switch random.below(12) {
            case 0: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
            case 1: bytes.removeLast(1 + random.below(bytes.count))
            case 2: bytes.removeFirst(1 + random.below(bytes.count))
            case 3: bytes += (0...random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            case 4:
                let place = random.below(bytes.count)
                bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.below(64)))
            case 5:
                // A part of another entry.
                let other = random.one(of: entries).0
                let start = random.below(min(bytes.count, other.count))
                let end = start + random.below(min(bytes.count, other.count) - start) + 1
                bytes.replaceSubrange(start..<end, with: other[start..<end])
            case 6:
                // Swapped: a good entry of another key.
                let other = random.one(of: entries)
                if other.1.key != expected.key { return (other.0, expected) }
                continue
            case 7: return random.one(of: foreign)
            case 8:
                // A signature, or a signer, of a good batch over a stranger's entry.
                let (other, key) = random.one(of: foreign)
                bytes = other
                let part = random.one(of: [SealedLayout.batch, SealedLayout.signature, SealedLayout.signer])
                bytes.replaceSubrange(part, with: original[part])
                return (bytes, key)
            case 9:
                // The number of the entry, the number of entries, or the time.
                let place = random.one(of: [17, 24, 25, 26, 91, 92])
                bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 10:
                // Replayed: purged since.
                var later = expected
                later.oldestGeneration = 8
                return (bytes, later)
            default: bytes = (0..<random.below(600)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            }
            if !originals.contains(bytes) { return (bytes, expected) }
        }
    }
}
