import CLarderXXHash

/// XXH3-64, chained over the parts of a row: detects accidental changes, not forgeries.
struct Checksum {
    private var state: UInt64

    /// - Parameter seed: the id of the row or chunk, so that its bytes are not valid for another row or chunk.
    init(seed: Int64) { state = UInt64(bitPattern: seed) }

    /// The value as SQLite stores it.
    var value: Int64 { Int64(bitPattern: state) }

    mutating func combine(_ number: Int64) {
        withUnsafeBytes(of: number) { state = cxxhash_64($0.baseAddress, 8, state) }
    }

    /// Also adds the length of the bytes: without it, moving bytes from one part to the next would not change the checksum.
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
