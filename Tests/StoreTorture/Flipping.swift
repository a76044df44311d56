import CLarderLinux
import Glibc
import HTTPCaching
import ResponseStore
import TestSupport

/// One bit flipped anywhere in a store's file, again and again: what comes out is what went in, or nothing, and the store goes on.
extension StoreTorture {
    /// Bodies up to 40 KB: in their rows, and in chunks.
    private static let numbers = 20..<170
    private static let removed = 20..<30
    private static let added = 1_000_001

    static func flip(_ path: String, seeds: Range<UInt64>) throws {
        let pristine = try makePristine(path)
        var wrong = 0
        var kept = 0
        var movedAside = 0
        for seed in seeds {
            var damaged = pristine
            var generator = SeededNumbers(seed: seed)
            damaged[Int(generator.next() % UInt64(damaged.count))] ^= UInt8(1 << (generator.next() % 8))
            removeFiles(path)
            try write(damaged, to: path)
            let before = wrong
            kept += try look(path, &wrong, &movedAside)
            if wrong > before { print("seed \(seed): \(wrong - before) wrong") }
        }
        print(
            "\(seeds.count) flips in \(pristine.count >> 10) KiB: \(wrong) wrong, "
                + "\(kept * 100 / (seeds.count * (numbers.count - removed.count)))% still found, \(movedAside) files moved aside")
        exit(wrong == 0 ? 0 : 1)
    }

    private static func makePristine(_ path: String) throws -> [UInt8] {
        let store = try open(path)
        for number in numbers { put(store, number) }
        store.invalidate(removed.map { key($0) })
        store.shutdown()
        return try read(path)
    }

    /// - Returns: How many responses are there.
    private static func look(_ path: String, _ wrong: inout Int, _ movedAside: inout Int) throws -> Int {
        // Larger bodies stay on the disk, so that they are read in pieces.
        let store = try open(path) {
            $0.memoryBodyLimit = 20_000
            $0.report = { _ in }
        }
        var found = 0
        for number in numbers {
            guard let response = find(store, number) else { continue }
            found += 1
            let body = body(number)
            let expected = Self.response(number, body: body)
            let isWrong =
                response.preparedHead != expected.preparedHead || response.facts != expected.facts || removed.contains(number)
            // A body that cannot be read is a delivery that breaks off.
            let bytes = bytes(store, response)
            if isWrong || bytes != nil && bytes != body { wrong += 1 }
        }
        put(store, added)
        if find(store, added).flatMap({ bytes(store, $0) }) != body(added) { wrong += 1 }
        movedAside += store.statistics.damagedFiles
        store.shutdown()
        return found
    }

    // MARK: Files

    private static func read(_ path: String) throws -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY)
        precondition(descriptor >= 0, "the store's file is not there")
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        precondition(pread(descriptor, &bytes, bytes.count, 0) == bytes.count, "the store's file cannot be read")
        return bytes
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        precondition(descriptor >= 0, "the store's file cannot be made")
        defer { close(descriptor) }
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count, "the store's file cannot be written")
    }

    private static func removeFiles(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
}

/// Numbers from a seed (SplitMix64).
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
