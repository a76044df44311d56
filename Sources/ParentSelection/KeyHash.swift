/// A 64-bit hash of a cache key or of a member's name. All nodes of a farm compute the same hash, in every version: a change of this
/// function moves every key to another parent.
public struct KeyHash: Hashable, Sendable {
    public let value: UInt64

    public init(value: UInt64) { self.value = value }

    /// FNV-1a over the bytes, and then a finalizer. FNV-1a alone leaves the high bits of short texts almost equal.
    public init(of bytes: Span<UInt8>) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<bytes.count { hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3 }
        value = Self.mixed(hash)
    }

    public init(of text: String) {
        let bytes = Array(text.utf8)
        self.init(of: bytes.span)
    }

    /// The weight of a member for this key (rendezvous hashing): the member with the highest weight is the first choice.
    func weight(of member: KeyHash) -> UInt64 { Self.mixed(value ^ (member.value &* 0x9E37_79B9_7F4A_7C15)) }

    /// The finalizer of SplitMix64: each bit of the input changes half of the bits of the output.
    private static func mixed(_ input: UInt64) -> UInt64 {
        var bits = input &+ 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
