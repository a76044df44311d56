/// Writing bytes into reserved capacity.
///
///     output.append(addingCapacity: 64) { line in
///         line.append("Age: ")
///         line.append(decimal: age)
///     }
///
/// Each append costs one capacity check and the copy; appending to an array also checks each time whether the array is shared and large
/// enough. The checks stay: running out of capacity is a bug in Larder and traps.
extension OutputSpan<UInt8> {
    @inlinable @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(copying: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    package mutating func append(_ span: Span<UInt8>) {
        span.withUnsafeBufferPointer { octets in
            guard let start = octets.baseAddress else { return }
            append(copying: start, count: octets.count)
        }
    }

    /// Appends bytes, with letters in lower case.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func append(lowercasing span: Span<UInt8>) {
        span.withUnsafeBufferPointer { octets in
            withUnsafeMutableBufferPointer { buffer, initializedCount in
                precondition(octets.count <= buffer.count &- initializedCount, "no room for a text")
                guard let base = buffer.baseAddress else { return }
                let start = base + initializedCount
                for index in octets.indices { (start + index).initialize(to: ASCII.lowercased(octets[index])) }
                initializedCount &+= octets.count
            }
        }
    }

    @inlinable
    package mutating func append(decimal number: UInt64) {
        if number < 10 { return append(0x30 &+ UInt8(truncatingIfNeeded: number)) }
        if number < 1000 { return append(EightDigits(threeDecimal: number), last: number < 100 ? 2 : 3) }
        if number >= EightDigits.decimalBound {
            append(decimal: number / EightDigits.decimalBound)
            return append(decimal: number % EightDigits.decimalBound, digitCount: 8)
        }
        let digits = EightDigits(decimal: number)
        append(digits, last: digits.significantCount)
    }

    /// Appends the last `digitCount` digits of the number, with leading zeros.
    @inlinable
    package mutating func append(decimal number: UInt64, digitCount: Int) {
        if digitCount <= 3, number < 1000 { return append(EightDigits(threeDecimal: number), last: digitCount) }
        if digitCount > 8 { append(decimal: number / EightDigits.decimalBound, digitCount: digitCount &- 8) }
        append(EightDigits(decimal: number % EightDigits.decimalBound), last: min(digitCount, 8))
    }

    /// Appends the number as sixteen hexadecimal digits, the form of request ids.
    @inlinable
    package mutating func append(hexadecimal number: UInt64) {
        append(EightDigits(hexadecimal: UInt32(truncatingIfNeeded: number &>> 32)), last: 8)
        append(EightDigits(hexadecimal: UInt32(truncatingIfNeeded: number)), last: 8)
    }

    @inlinable @inline(__always)
    mutating func append(_ digits: EightDigits, last count: Int) {
        withUnsafeMutableBufferPointer { buffer, initializedCount in
            precondition(count >= 0 && count <= 8 && count <= buffer.count &- initializedCount, "no room for a number")
            guard let base = buffer.baseAddress else { return }
            let place = base + initializedCount
            var rest = digits.characters &>> UInt64(truncatingIfNeeded: (8 &- count) &* 8)
            if buffer.count &- initializedCount >= 8 {
                // One store of eight bytes suffices for any number of digits: the bytes after the last digit are in unused capacity.
                UnsafeMutableRawPointer(place).storeBytes(of: rest.littleEndian, as: UInt64.self)
            } else {
                for index in 0..<count {
                    (place + index).initialize(to: UInt8(truncatingIfNeeded: rest))
                    rest = rest &>> 8
                }
            }
            initializedCount &+= count
        }
    }

    @inlinable @inline(__always)
    mutating func append(copying start: UnsafePointer<UInt8>, count: Int) {
        withUnsafeMutableBufferPointer { buffer, initializedCount in
            // Both ranges are valid: the span owns its buffer, and `start` has `count` bytes by its type's contract.
            precondition(count <= buffer.count &- initializedCount, "no room for a text")
            guard let base = buffer.baseAddress else { return }
            (base + initializedCount).initialize(from: start, count: count)
            initializedCount &+= count
        }
    }
}
