/// Choices that depend on the bytes alone, so that a failure comes again.
package enum Cuts {
    /// Byte by byte. The first read is empty.
    package static func each(of count: Int) -> [Int] { Array(0...count) }

    /// A few places at which to cut bytes into reads.
    package static func some(of octets: [UInt8]) -> [Int] {
        guard octets.count > 1 else { return [octets.count] }
        let hash = hash(of: octets)
        var cuts: Set<Int> = [octets.count]
        for shift in 0..<3 { cuts.insert(Int(hash >> UInt64(shift * 20) & 0xF_FFFF) % octets.count) }
        return cuts.sorted()
    }

    /// FNV-1a.
    package static func hash(of octets: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for octet in octets { hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
        return hash
    }
}
