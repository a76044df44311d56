import HTTPMessage

/// The search for control octets (below a space, or DEL), eight at a time.
enum ControlOctet {
    /// The place of the first control octet at or after `start`, or the end.
    static func first(in bytes: Span<UInt8>, from start: Int) -> Int {
        precondition(start >= 0 && start <= bytes.count)
        return bytes.withUnsafeBytes { buffer in
            let end = buffer.count
            var index = start
            while index &+ 8 <= end {
                let word = UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let found = flags(in: word)
                if found != 0 { return index &+ found.trailingZeroBitCount >> 3 }
                index &+= 8
            }
            while index < end, isText(buffer[index]) { index &+= 1 }
            return index
        }
    }

    /// Sets the high bit of each octet that is a control. Octets above the first one found may be flagged wrongly,
    /// since a borrow runs upwards; the lowest flag is right.
    @inline(__always)
    private static func flags(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x8080_8080_8080_8080
        let belowSpace = (word &- ones &* 0x20) & ~word
        let delete = word ^ (ones &* 0x7F)
        let isDelete = (delete &- ones) & ~delete
        return (belowSpace | isDelete) & high
    }

    @inline(__always)
    private static func isText(_ octet: UInt8) -> Bool { octet >= 0x20 && octet != 0x7F }
}
