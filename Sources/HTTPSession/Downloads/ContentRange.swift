import HTTPMessage

/// Content-Range (RFC 9110 §14.4), in octets.
package enum ContentRange: Equatable, Sendable {
    /// The part that a 206 has. `total` is `nil` where it is not told.
    case part(first: UInt64, last: UInt64, total: UInt64?)
    /// What a 416 says of the length.
    case unsatisfied(total: UInt64)

    /// - Returns: `nil` for none, several, other units, and what does not add up.
    init?(_ fields: Fields) {
        guard fields.lineCount(of: .contentRange) == 1, let line = fields.first(.contentRange) else { return nil }
        let value = fields.text(of: line.value)
        guard value.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = Self.number(parts[1])
        if parts[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            total != nil || parts[1] == "*", last < total ?? .max
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return UInt64(text)
    }
}
