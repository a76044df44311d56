/// Writing octets into room that was made for them.
///
///     output.append(addingCapacity: 64) { line in
///         line.append("Age: ")
///         line.append(decimal: age)
///     }
///
/// A piece costs one check of the room and the copy, where appending it to an array asks each time whether the array is
/// shared and large enough. The checks stay: what does not fit is a fault of ours and traps.
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

    /// Appends octets with their letters in lower case.
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
        var digitCount = 2
        var limit: UInt64 = 100
        // Ten to the twentieth does not fit: a number that long has twenty digits.
        while digitCount < 20, number >= limit {
            digitCount &+= 1
            limit = limit &* 10
        }
        append(decimal: number, digitCount: digitCount)
    }

    /// Appends the last so many digits of the number, with zeros before it.
    @inlinable
    package mutating func append(decimal number: UInt64, digitCount: Int) {
        withUnsafeMutableBufferPointer { buffer, initializedCount in
            precondition(digitCount >= 0 && digitCount <= buffer.count &- initializedCount, "no room for a number")
            guard let base = buffer.baseAddress else { return }
            let start = base + initializedCount
            var rest = number
            var place = start + digitCount
            while place > start {
                place -= 1
                let tenth = rest / 10
                place.initialize(to: 0x30 &+ UInt8(truncatingIfNeeded: rest &- tenth &* 10))
                rest = tenth
            }
            initializedCount &+= digitCount
        }
    }

    @inlinable @inline(__always)
    mutating func append(copying start: UnsafePointer<UInt8>, count: Int) {
        withUnsafeMutableBufferPointer { buffer, initializedCount in
            // Both are within what the span knows to be its own, and `start` has `count` octets by its type's promise.
            precondition(count <= buffer.count &- initializedCount, "no room for a text")
            guard let base = buffer.baseAddress else { return }
            (base + initializedCount).initialize(from: start, count: count)
            initializedCount &+= count
        }
    }
}
