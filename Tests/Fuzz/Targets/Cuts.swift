/// Ways to cut octets into reads.
package enum Cuts {
    /// Octet by octet. The first read is empty.
    package static func each(of count: Int) -> [Int] { Array(0...count) }

    /// A few places that depend on the octets alone, so that a failure comes again.
    package static func some(of octets: [UInt8]) -> [Int] {
        guard octets.count > 1 else { return [octets.count] }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for octet in octets { hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
        var cuts: Set<Int> = [octets.count]
        for shift in 0..<3 { cuts.insert(Int(hash >> UInt64(shift * 20) & 0xF_FFFF) % octets.count) }
        return cuts.sorted()
    }
}
