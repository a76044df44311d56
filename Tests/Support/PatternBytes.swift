/// Bytes generated from a seed, without repetition; fast even without optimization.
public enum PatternBytes {
    private static let blockLength = 4096

    public static func make(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15
        func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        var block: [UInt8] = []
        for _ in 0..<min(count, blockLength) / 8 + 1 {
            let number = next()
            for shift in 0..<8 { block.append(UInt8(truncatingIfNeeded: number >> UInt64(shift * 8))) }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + block.count)
        while bytes.count < count {
            // Each block begins with its own offset.
            withUnsafeBytes(of: UInt64(bytes.count) &* 0x2545_F491_4F6C_DD1D) { block.replaceSubrange(0..<8, with: $0) }
            bytes += block
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
