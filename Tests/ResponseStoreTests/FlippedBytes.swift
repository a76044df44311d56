import Foundation
import HTTPCaching
import Testing

@testable import ResponseStore

/// Damages copies of a store's file, one byte each, and asks for everything in it.
enum FlippedBytes {
    static let inlineCount = 150
    static let largeLength = 400_000
    /// 24 in CI.
    static let count = ProcessInfo.processInfo.environment["LARDER_FLIPS"].flatMap(UInt64.init) ?? 24

    static func makeStore(_ fixture: StoreFixture) throws -> Data {
        let store = try fixture.open()
        for number in 0..<inlineCount { store.putSurely(inline(number)) }
        store.putSurely(large)
        store.invalidate((0..<10).map { Sample.key("i\($0)") })
        store.shutdown()
        return try Data(contentsOf: URL(filePath: fixture.path))
    }

    static func run(_ fixture: StoreFixture, pristine: Data, seeds: Range<UInt64>) throws {
        for seed in seeds {
            var generator = SplitMix(state: seed)
            var damaged = pristine
            let offset = Int(generator.next() % UInt64(damaged.count))
            let bit = UInt8(1 << (generator.next() % 8))
            damaged[offset] ^= bit
            try damaged.write(to: URL(filePath: fixture.path))
            // Larger bodies stay on the disk, so that they are read in pieces.
            let store = try fixture.open { $0.memoryBodyLimit = 100_000 }
            for number in 10..<inlineCount {
                if let found = store.find(Sample.key("i\(number)")) { try check(store, found, inline(number), seed) }
            }
            if let found = store.find(Sample.key("large")) {
                try check(store, found, large, seed)
            }
            _ = store.put(Sample.response("new", body: [1, 2, 3]))
            store.drain()
            #expect(store.find(Sample.key("new")).flatMap { store.wholeBody($0) } == [1, 2, 3], "seed \(seed)")
            store.shutdown()
        }
    }

    private static func check(_ store: ResponseStore, _ found: StoredResponse, _ expected: StoredResponse, _ seed: UInt64) throws
    {
        #expect(found.preparedHead == expected.preparedHead, "seed \(seed)")
        #expect(found.facts == expected.facts, "seed \(seed)")
        guard case .bytes(let body) = expected.body, let bytes = store.wholeBody(found) else { return }
        #expect(bytes == body, "seed \(seed)")
    }

    private static let all = (0..<inlineCount).map(make)
    private static let large = Sample.response("large", body: Sample.bytes(largeLength, seed: 77))

    private static func inline(_ number: Int) -> StoredResponse { all[number] }

    private static func make(_ number: Int) -> StoredResponse {
        Sample.response("i\(number)", body: Sample.bytes(500 + number * 20, seed: UInt64(number)), etag: number % 2 == 0)
    }
}

/// Numbers from a seed.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
