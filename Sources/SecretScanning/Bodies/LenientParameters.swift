import HTTPMessage

/// Reads parameters of Content-Type and Content-Disposition as servers do that accept more than the grammar: an unquoted value may
/// contain any bytes except a semicolon. A strict reader would miss the boundary of such a body, and with it the secrets of all parts.
enum LenientParameters {
    /// The first parameter with this name, compared without regard to case; a quoted value is unquoted (RFC 9110 §5.6.4).
    static func value(of name: String, in text: [UInt8]) -> [UInt8]? {
        var place = text.firstIndex(of: ASCII.semicolon) ?? text.count
        while place < text.count {
            place += 1
            let nameEnd = text[place...].firstIndex { $0 == ASCII.equals || $0 == ASCII.semicolon } ?? text.count
            guard nameEnd < text.count, text[nameEnd] == ASCII.equals else {
                place = nameEnd
                continue
            }
            let isWanted = text[text.span.trimmedBounds(in: place..<nameEnd)].map(ASCII.lowercased) == Array(name.utf8)
            let value = value(in: text, from: nameEnd + 1)
            if isWanted { return value.octets }
            place = value.end
        }
        return nil
    }

    /// - Returns: the value, and the position of the semicolon after it, or of the end.
    private static func value(in text: [UInt8], from start: Int) -> (octets: [UInt8], end: Int) {
        var place = text[start...].firstIndex { !ASCII.isBlank($0) } ?? text.count
        guard place < text.count, text[place] == ASCII.quote else {
            let end = text[place...].firstIndex(of: ASCII.semicolon) ?? text.count
            return (Array(text[text.span.trimmedBounds(in: place..<end)]), end)
        }
        var value: [UInt8] = []
        place += 1
        while place < text.count, text[place] != ASCII.quote {
            if text[place] == ASCII.backslash, place + 1 < text.count { place += 1 }
            value.append(text[place])
            place += 1
        }
        return (value, text[min(place, text.count)...].firstIndex(of: ASCII.semicolon) ?? text.count)
    }
}
