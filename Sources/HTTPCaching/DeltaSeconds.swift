import HTTPMessage

/// A non-negative number of seconds (RFC 9111 §1.3). Larger values become 2^31, which means "forever".
public struct DeltaSeconds: Comparable, Hashable, Sendable {
    /// 0 to 2^31.
    public let seconds: UInt32

    /// 0 seconds.
    public static let zero = DeltaSeconds(0)
    /// The maximum, 2^31 seconds.
    public static let greatest = DeltaSeconds(1 << 31)

    /// Clamps to the range: negative numbers become 0, larger ones 2^31.
    public init(_ seconds: Int64) {
        self.seconds = UInt32(min(max(seconds, 0), 1 << 31))
    }

    public static func < (left: DeltaSeconds, right: DeltaSeconds) -> Bool { left.seconds < right.seconds }

    /// Parses 1*DIGIT; `nil` for anything else. Overflow gives the greatest value.
    package init?(_ text: Span<UInt8>) {
        guard !text.isEmpty else { return nil }
        var number: Int64 = 0
        for index in 0..<text.count {
            guard ASCII.isDigit(text[index]) else { return nil }
            number = min(number * 10 + Int64(text[index] &- 0x30), 1 << 31)
        }
        self.init(number)
    }

    var milliseconds: Int64 { Int64(seconds) * 1000 }
}
