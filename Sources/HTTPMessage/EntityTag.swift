extension Fields {
    /// The ETag line of a response; `nil` if there are several, because recipients differ in which of them they use (RFC 9110 §5.3).
    package var entityTagLine: FieldLine? { lineCount(of: .etag) == 1 ? first(.etag) : nil }
}

/// An entity tag, as a position in the field value from which it was parsed (RFC 9110 §8.8.3).
package struct EntityTag: Equatable, Sendable {
    package let isWeak: Bool
    /// The opaque tag with its quotes.
    package let opaqueTag: Range<Int>

    /// Parses a value that consists of one entity tag.
    package init?(_ value: Span<UInt8>) {
        guard let tag = EntityTag(in: value, at: 0), tag.opaqueTag.upperBound == value.count else { return nil }
        self = tag
    }

    /// Parses the entity tag that starts at `start`.
    private init?(in value: Span<UInt8>, at start: Int) {
        var index = start
        // "W/" is case-sensitive.
        isWeak = index + 1 < value.count && value[index] == 0x57 && value[index + 1] == ASCII.slash
        if isWeak { index += 2 }
        guard index < value.count, value[index] == ASCII.quote else { return nil }
        let opening = index
        index += 1
        while index < value.count, value[index] != ASCII.quote {
            guard Self.isTagCharacter(value[index]) else { return nil }
            index += 1
        }
        guard index < value.count else { return nil }
        opaqueTag = opening..<index + 1
    }

    /// Whether the byte is an etagc: a visible character except the quote, or obs-text.
    private static func isTagCharacter(_ byte: UInt8) -> Bool { byte >= 0x21 && byte != ASCII.quote && byte != 0x7F }

    /// Weak comparison (RFC 9110 §8.8.3.2): the opaque tags are equal. An invalid value matches nothing.
    package static func matchesWeakly(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard let first = EntityTag(left), let second = EntityTag(right) else { return false }
        return left.extracting(first.opaqueTag).equals(right.extracting(second.opaqueTag))
    }

    /// Strong comparison (RFC 9110 §8.8.3.2): the opaque tags are equal and neither entity tag is weak.
    package static func matchesStrongly(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard let first = EntityTag(left), let second = EntityTag(right), !first.isWeak, !second.isWeak else { return false }
        return left.extracting(first.opaqueTag).equals(right.extracting(second.opaqueTag))
    }

    /// How one line of If-None-Match or If-Match matches a representation.
    package enum ListMatch: Equatable, Sendable {
        /// The value is `*`.
        case any
        case matches
        case doesNotMatch
        /// The value is malformed: it is not `*` and not a list of entity tags.
        case invalid
    }

    /// Searches a list for an entity tag, by weak comparison (RFC 9110 §13.1.2). For a representation that has no entity tag, pass an
    /// empty tag.
    package static func findWeakly(_ tag: Span<UInt8>, inList list: Span<UInt8>) -> ListMatch {
        let bounds = list.trimmedBounds(in: 0..<list.count)
        if bounds.count == 1, list[bounds.lowerBound] == 0x2A { return .any }
        let wanted = EntityTag(tag)
        var index = bounds.lowerBound
        var found = false
        while index < bounds.upperBound {
            // Empty elements are skipped (RFC 9110 §5.6.1.2).
            if list[index] == ASCII.comma || ASCII.isBlank(list[index]) {
                index += 1
                continue
            }
            guard let candidate = EntityTag(in: list, at: index) else { return .invalid }
            if let wanted, tag.extracting(wanted.opaqueTag).equals(list.extracting(candidate.opaqueTag)) {
                found = true
            }
            index = candidate.opaqueTag.upperBound
            while index < bounds.upperBound, ASCII.isBlank(list[index]) { index += 1 }
            guard index == bounds.upperBound || list[index] == ASCII.comma else { return .invalid }
        }
        return found ? .matches : .doesNotMatch
    }
}
