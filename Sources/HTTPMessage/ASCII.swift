/// The bytes in HTTP's grammar, and tests for classes of bytes (RFC 9110 §5.6, RFC 5234 B.1).
@usableFromInline
package enum ASCII {
    @usableFromInline package static let cr: UInt8 = 0x0D
    @usableFromInline package static let lf: UInt8 = 0x0A
    @usableFromInline package static let space: UInt8 = 0x20
    @usableFromInline package static let tab: UInt8 = 0x09
    @usableFromInline package static let colon: UInt8 = 0x3A
    @usableFromInline package static let comma: UInt8 = 0x2C
    @usableFromInline package static let semicolon: UInt8 = 0x3B
    @usableFromInline package static let equals: UInt8 = 0x3D
    @usableFromInline package static let quote: UInt8 = 0x22
    @usableFromInline package static let backslash: UInt8 = 0x5C
    @usableFromInline package static let slash: UInt8 = 0x2F
    @usableFromInline package static let question: UInt8 = 0x3F

    @inlinable package static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    @inlinable package static func isAlpha(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
    @inlinable package static func isUppercase(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }
    /// Whether the byte is a letter, a digit or `_`, which is `\w` in patterns.
    @inlinable package static func isWord(_ byte: UInt8) -> Bool { isAlpha(byte) || isDigit(byte) || byte == 0x5F }
    /// Whether the byte may be in OWS: a space or a tab (RFC 9110 §5.6.3).
    @inlinable package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    @inlinable package static func lowercased(_ byte: UInt8) -> UInt8 { isUppercase(byte) ? byte | 0x20 : byte }

    @inlinable
    package static func hexValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    /// Whether the byte is a tchar (RFC 9110 §5.6.2).
    @inlinable
    package static func isTokenCharacter(_ byte: UInt8) -> Bool {
        // One bit for each byte below 128. The bits are set for ! # $ % & ' * + - . ^ _ ` | ~ and for digits and letters.
        if byte < 64 { return (0x03FF_6CFA_0000_0000 as UInt64) >> UInt64(byte) & 1 == 1 }
        if byte < 128 { return (0x57FF_FFFF_C7FF_FFFE as UInt64) >> UInt64(byte &- 64) & 1 == 1 }
        return false
    }

    /// Whether the byte is allowed in a field value: field-vchar, obs-text, a space or a tab (RFC 9110 §5.5).
    @inlinable
    package static func isFieldValueCharacter(_ byte: UInt8) -> Bool {
        byte >= 0x20 ? byte != 0x7F : byte == 0x09
    }
}

extension Span<UInt8> {
    /// Compares ASCII text case-insensitively; `lowercase` must be in lower case.
    @inlinable
    package func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
        guard count == lowercase.utf8CodeUnitCount else { return false }
        let expected = lowercase.utf8Start
        for index in 0..<count where ASCII.lowercased(self[index]) != expected[index] { return false }
        return true
    }

    @inlinable
    package func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        let expected = text.utf8Start
        for index in 0..<count where self[index] != expected[index] { return false }
        return true
    }

    @inlinable
    package func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where self[index] != other[index] { return false }
        return true
    }

    @inlinable
    package func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where ASCII.lowercased(self[index]) != ASCII.lowercased(other[index]) { return false }
        return true
    }

    /// The part of the given range that has no OWS at its beginning and end (RFC 9110 §5.6.3).
    @inlinable
    package func trimmedBounds(in bounds: Range<Int>) -> Range<Int> {
        var lower = bounds.lowerBound
        var upper = bounds.upperBound
        while lower < upper, ASCII.isBlank(self[lower]) { lower += 1 }
        while upper > lower, ASCII.isBlank(self[upper - 1]) { upper -= 1 }
        return lower..<upper
    }
}

extension Array<UInt8> {
    @inlinable @inline(__always)
    package mutating func append(_ text: StaticString) {
        // An append of zero bytes to an empty array would write to the storage that all empty arrays share (Swift 6.3), so it is
        // skipped.
        if text.utf8CodeUnitCount == 0 { return }
        append(addingCapacity: text.utf8CodeUnitCount) { $0.append(text) }
    }

    @inlinable @inline(__always)
    package mutating func append(_ span: Span<UInt8>) {
        // An append of zero bytes to an empty array would write to the storage that all empty arrays share (Swift 6.3), so it is
        // skipped.
        if span.isEmpty { return }
        append(addingCapacity: span.count) { $0.append(span) }
    }

    /// Appends the number in decimal without a separate allocation.
    @inlinable @inline(__always)
    package mutating func append(decimal number: UInt64) {
        append(addingCapacity: 20) { $0.append(decimal: number) }
    }
}
