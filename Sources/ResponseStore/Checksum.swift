import CXXHash

/// XXH3-64 chained over the parts of a row: finds accidents, not forgeries.
struct Checksum {
    private var state: UInt64

    /// - Parameter seed: What the bytes belong to (a row or chunk id), so that they do not pass for another's.
    init(seed: Int64) { state = UInt64(bitPattern: seed) }

    /// As SQLite keeps it.
    var value: Int64 { Int64(bitPattern: state) }

    mutating func combine(_ number: Int64) {
        withUnsafeBytes(of: number) { state = cxxhash_64($0.baseAddress, 8, state) }
    }

    /// The length is combined too, so that bytes cannot move from one part to the next.
    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(Int64(bytes.count))
        state = cxxhash_64(bytes.baseAddress, bytes.count, state)
    }

    mutating func combine(_ bytes: Span<UInt8>) { bytes.withUnsafeBytes { combine($0) } }

    static func of(_ bytes: UnsafeRawBufferPointer, seed: Int64) -> Int64 {
        var checksum = Checksum(seed: seed)
        checksum.combine(bytes)
        return checksum.value
    }
}
