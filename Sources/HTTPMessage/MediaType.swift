/// The positions of type and subtype in the value of a Content-Type field (RFC 9110 §8.3.1). Parameters are ignored.
package struct MediaType: Equatable, Sendable {
    package let type: Extent
    package let subtype: Extent

    /// - Returns: `nil` unless the value starts with `type "/" subtype`, both of them tokens, followed by the end of the value or a
    ///   `;`.
    package init?(parsing value: Span<UInt8>) {
        let bounds = value.trimmedBounds(in: 0..<value.count)
        let typeEnd = Self.endOfToken(in: value, from: bounds.lowerBound)
        guard typeEnd > bounds.lowerBound, typeEnd < bounds.upperBound, value[typeEnd] == ASCII.slash else { return nil }
        let subtypeEnd = Self.endOfToken(in: value, from: typeEnd + 1)
        guard subtypeEnd > typeEnd + 1 else { return nil }
        var next = subtypeEnd
        while next < bounds.upperBound, ASCII.isBlank(value[next]) { next += 1 }
        guard next == bounds.upperBound || value[next] == ASCII.semicolon else { return nil }
        type = Extent(bounds.lowerBound..<typeEnd)
        subtype = Extent(typeEnd + 1..<subtypeEnd)
    }

    private static func endOfToken(in value: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < value.count, ASCII.isTokenCharacter(value[index]) { index += 1 }
        return index
    }
}
