/// Sixteen bytes. One vector instruction compares all of them.
///
/// The searches over a message's bytes use this type. The comparison of a block gives a mask, which is nearly always empty. The bounds
/// are checked once, before the loop over the blocks. If fewer than sixteen bytes are to be searched, they are checked one by one. This
/// is the only file in the module that reads memory without further checks.
@usableFromInline
package struct OctetBlock {
    @usableFromInline package typealias Mask = SIMDMask<SIMD16<Int8>>

    @usableFromInline let octets: SIMD16<UInt8>

    @inlinable @inline(__always)
    init(_ buffer: UnsafeRawBufferPointer, at index: Int) {
        octets = buffer.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
    }

    @inlinable @inline(__always)
    package func isBelow(_ bound: UInt8) -> Mask { octets .< SIMD16(repeating: bound) }

    @inlinable @inline(__always)
    package func isEqual(to octet: UInt8) -> Mask { octets .== SIMD16(repeating: octet) }

    @inlinable @inline(__always)
    package func isWithin(_ bounds: ClosedRange<UInt8>) -> Mask {
        (octets .>= SIMD16(repeating: bounds.lowerBound)) .& (octets .<= SIMD16(repeating: bounds.upperBound))
    }

    /// The index of the first match in the block; `nil` if the mask is empty.
    @inlinable @inline(__always)
    static func first(_ mask: Mask) -> Int? {
        // This avoids `any`, which is a function call if it is not inlined.
        let halves = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        if halves[0] != 0 { return UInt64(littleEndian: halves[0]).trailingZeroBitCount &>> 3 }
        if halves[1] != 0 { return 8 &+ UInt64(littleEndian: halves[1]).trailingZeroBitCount &>> 3 }
        return nil
    }
}

extension Span<UInt8> {
    /// The index of the first control character (below a space, or DEL) at or after `start`; if there is none, the end.
    @inlinable @inline(__always)
    package func firstControl(from start: Int) -> Int {
        first(from: start, block: { $0.isBelow(0x20) .| $0.isEqual(to: 0x7F) }, octet: { $0 < 0x20 || $0 == 0x7F })
    }

    /// The index of the first colon at or after `start`; if there is none, the end.
    @inlinable @inline(__always)
    package func firstColon(from start: Int) -> Int {
        first(from: start, block: { $0.isEqual(to: ASCII.colon) }, octet: { $0 == ASCII.colon })
    }

    /// The index of the first byte at or after `start` that matches; if there is none, the end. Both closures must test for the same
    /// bytes.
    @inlinable @inline(__always)
    package func first(
        from start: Int, block isFoundIn: (OctetBlock) -> OctetBlock.Mask, octet isFound: (UInt8) -> Bool
    ) -> Int {
        precondition(start >= 0 && start <= count)
        return withUnsafeBytes { buffer in
            var index = start
            while buffer.count &- index >= 16 {
                if let found = OctetBlock.first(isFoundIn(OctetBlock(buffer, at: index))) { return index &+ found }
                index &+= 16
            }
            // The last block overlaps the block before it. The bytes in both were already searched without a match.
            if index < buffer.count, buffer.count &- start >= 16 {
                let last = buffer.count &- 16
                return OctetBlock.first(isFoundIn(OctetBlock(buffer, at: last))).map { last &+ $0 } ?? buffer.count
            }
            while index < buffer.count, !isFound(buffer[index]) { index &+= 1 }
            return index
        }
    }

    /// Whether the span equals the given name, compared case-insensitively. `name` must be in lower case, with only letters, digits and
    /// `-`.
    func isToken(ignoringCaseOf name: StaticString) -> Bool {
        let count = self.count
        guard count == name.utf8CodeUnitCount else { return false }
        guard count >= 4 else { return equalsIgnoringCase(name) }
        let expected = UnsafeRawPointer(name.utf8Start)
        return withUnsafeBytes { buffer in
            // The last word overlaps the one before it, so that all bytes are compared.
            if count < 8 {
                return Self.isSameToken(UInt32.self, buffer, expected, at: 0)
                    && Self.isSameToken(UInt32.self, buffer, expected, at: count &- 4)
            }
            guard Self.isSameToken(UInt64.self, buffer, expected, at: 0),
                Self.isSameToken(UInt64.self, buffer, expected, at: count &- 8)
            else { return false }
            var index = 8
            while index &+ 8 < count {
                if !Self.isSameToken(UInt64.self, buffer, expected, at: index) { return false }
                index &+= 8
            }
            return true
        }
    }

    /// Compares one word. Setting bit 5 of a byte turns capitals into lower case. It would also turn some control characters into
    /// characters of a field name (CR into `-`). So bit 5 or 6 of each byte must already be set.
    @inline(__always)
    private static func isSameToken<Word: FixedWidthInteger & UnsignedInteger>(
        _ type: Word.Type, _ buffer: UnsafeRawBufferPointer, _ expected: UnsafeRawPointer, at index: Int
    ) -> Bool {
        let word = buffer.loadUnaligned(fromByteOffset: index, as: Word.self)
        let smallName = expected.loadUnaligned(fromByteOffset: index, as: Word.self)
        let bit5 = Word(truncatingIfNeeded: 0x2020_2020_2020_2020 as UInt64)
        let bit6 = bit5 &<< 1
        return (word | word &<< 1) & bit6 == bit6 && word | bit5 == smallName
    }

    /// The index of the first byte in which the spans differ; if there is none, the end of the shorter span. Compares eight bytes at a
    /// time.
    package func firstDifference(from other: Span<UInt8>) -> Int {
        let count = Swift.min(self.count, other.count)
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { others in
                var index = 0
                while count &- index >= 8 {
                    let difference =
                        mine.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                        ^ others.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    if difference != 0 {
                        return index &+ UInt64(littleEndian: difference).trailingZeroBitCount &>> 3
                    }
                    index &+= 8
                }
                while index < count, mine[index] == others[index] { index &+= 1 }
                return index
            }
        }
    }

    /// Whether the bytes are equal. Compares eight at a time.
    package func isSame(as other: Span<UInt8>) -> Bool {
        let count = self.count
        guard count == other.count else { return false }
        guard count >= 8 else { return equals(other) }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { others in
                var index = 0
                while true {
                    if mine.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                        != others.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    {
                        return false
                    }
                    if index == count &- 8 { return true }
                    index = Swift.min(index &+ 8, count &- 8)
                }
            }
        }
    }
}
