import HTTPMessage
import TestSupport
import Testing

@testable import SignedEntries

@Suite("Records between the nodes of a farm")
struct FarmRecordTests {
    private let record = Array("purge https://secret.example/path".utf8)

    @Test("A record is read by nodes with the farm key, also after a rotation, and its text is not in its bytes")
    func roundTrip() throws {
        let farm = TestFarm()
        let sealed = FarmRecords(farm.keys).seal(record, at: TestFarm.now)
        #expect(!String(decoding: sealed, as: UTF8.self).contains("secret"))
        #expect(sealed != FarmRecords(farm.keys).seal(record, at: TestFarm.now))
        let later = farm.keys.keys + [FarmKey.new(start: TestFarm.now.advanced(seconds: 1))]
        for keys in [farm.keys, FarmKeys(farm: farm.keys.farm, keys: later)!] {
            #expect(try FarmRecords(keys).open(sealed) == record)
        }
    }

    @Test("A record of another farm or key, or a damaged one, is refused", arguments: Array(1...4 as ClosedRange<UInt64>))
    func refused(seed: UInt64) throws {
        let farm = TestFarm()
        let records = FarmRecords(farm.keys)
        let sealed = records.seal(record, at: TestFarm.now)
        let other = FarmKeys(farm: FarmID(), keys: farm.keys.keys)!
        #expect(throws: EntryRejection.decryption) { _ = try FarmRecords(other).open(sealed) }
        #expect(throws: EntryRejection.unknownFarmKey) { _ = try FarmRecords(TestFarm().keys).open(sealed) }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<250 {
            var damaged = sealed
            switch random.below(3) {
            case 0: damaged[random.below(damaged.count)] ^= 1 << UInt8(random.below(8))
            case 1: damaged.removeLast(1 + random.below(damaged.count))
            default: damaged.append(UInt8(random.below(256)))
            }
            #expect(throws: EntryRejection.self) { _ = try records.open(damaged) }
        }
    }
}
