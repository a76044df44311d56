/// Sixteen octets looked at in one go.
///
/// The searches over a message's octets are built of this: a question to a block is answered by a mask, and nearly every
/// block's answer is no. What they look at is checked against the span's bounds once, before the blocks, and the rest of
/// fewer than sixteen octets is looked at one by one. This file is the only one here that reads without further checks.
@usableFromInline
struct OctetBlock {
    @usableFromInline typealias Mask = SIMDMask<SIMD16<Int8>>

    private let octets: SIMD16<UInt8>

    @inline(__always)
    init(_ buffer: UnsafeRawBufferPointer, at index: Int) {
        octets = buffer.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
    }

    @inline(__always)
    func isBelow(_ bound: UInt8) -> Mask { octets .< SIMD16(repeating: bound) }

    @inline(__always)
    func isEqual(to octet: UInt8) -> Mask { octets .== SIMD16(repeating: octet) }

    /// The place of the first yes in the block, or `nil`.
    @inline(__always)
    static func first(_ mask: Mask) -> Int? {
        guard any(mask) else { return nil }
        let halves = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        let low = UInt64(littleEndian: halves[0])
        if low != 0 { return low.trailingZeroBitCount &>> 3 }
        return 8 &+ UInt64(littleEndian: halves[1]).trailingZeroBitCount &>> 3
    }
}

extension Span<UInt8> {
    /// The place of the first control octet (below a space, or DEL) at or after `start`, or the end.
    package func firstControl(from start: Int) -> Int {
        first(
            in: start..<count, block: { $0.isBelow(0x20) .| $0.isEqual(to: 0x7F) }, octet: { $0 < 0x20 || $0 == 0x7F })
    }

    /// The place of the first colon in the range, or the range's end.
    package func firstColon(in range: Range<Int>) -> Int {
        first(in: range, block: { $0.isEqual(to: ASCII.colon) }, octet: { $0 == ASCII.colon })
    }

    /// The place of the first octet for which the two questions, which mean the same, are answered with yes; or the end.
    @inline(__always)
    func first(in range: Range<Int>, block isFoundIn: (OctetBlock) -> OctetBlock.Mask, octet isFound: (UInt8) -> Bool) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return withUnsafeBytes { buffer in
            var index = range.lowerBound
            while range.upperBound &- index >= 16 {
                if let found = OctetBlock.first(isFoundIn(OctetBlock(buffer, at: index))) { return index &+ found }
                index &+= 16
            }
            while index < range.upperBound, !isFound(buffer[index]) { index &+= 1 }
            return index
        }
    }

    /// Whether this is the given name, without regard to case; `name` is in lower case, of letters, digits and `-` alone.
    ///
    /// Eight octets at a time: setting one bit makes capitals small, and besides them would change only controls into
    /// characters of such a name (CR into `-`), which is why bit 5 or 6 has to be set already.
    func isToken(ignoringCaseOf name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        guard count >= 8 else { return equalsIgnoringCase(name) }
        let expected = UnsafeRawPointer(name.utf8Start)
        return withUnsafeBytes { buffer in
            var index = 0
            while true {
                let word = buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let smallName = expected.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let isText = (word | word &<< 1) & 0x4040_4040_4040_4040 == 0x4040_4040_4040_4040
                guard isText, word | 0x2020_2020_2020_2020 == smallName else { return false }
                if index == buffer.count &- 8 { return true }
                // The last word overlaps the one before it rather than ending early.
                index = Swift.min(index &+ 8, buffer.count &- 8)
            }
        }
    }
}
