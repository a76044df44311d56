/// Patterns in which `*` matches any bytes, including none.
package enum Glob {
    package static let star: UInt8 = 0x2A

    /// Whether the text matches the pattern. In the worst case, the time is proportional to the product of their lengths, because a
    /// mismatch returns only to the last star.
    /// - Parameter start: the number of bytes at the beginning of both, without a star, that the caller has already compared.
    package static func matches(_ pattern: Span<UInt8>, _ text: Span<UInt8>, from start: Int = 0) -> Bool {
        var place = start
        var index = start
        var afterStar: Int?
        var retry = 0
        while index < text.count {
            if place < pattern.count, pattern[place] == star {
                place += 1
                afterStar = place
                retry = index
            } else if place < pattern.count, pattern[place] == text[index] {
                place += 1
                index += 1
            } else if let afterStar {
                retry += 1
                place = afterStar
                index = retry
            } else {
                return false
            }
        }
        while place < pattern.count, pattern[place] == star { place += 1 }
        return place == pattern.count
    }
}
