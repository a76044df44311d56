import HTTPMessage

/// How the text around a secret is escaped in JSON, queries and forms.
enum EscapedText {
    /// The forms of a space: in plain text, in a form, and in a URI.
    private static let blanks = [" ", "+", "%20"].map { Array($0.utf8) }
    /// The form of a line feed in a URI and in a form.
    static let lineFeed = Array("%0A".utf8)
    private static let closingBrackets = ["]", "%5D", "%5d"].map { Array($0.utf8) }
    private static let equals = ["=", "%3D", "%3d"].map { Array($0.utf8) }

    /// Entities of XML (XML 1.0 §4.6) and, for the apostrophe, of HTML. The ampersand comes last, so that no entity is decoded twice.
    static let entities = [
        ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&"),
    ]

    /// - Returns: the form of a space at this position, if there is one.
    static func blank(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> [UInt8]? {
        blanks.first { octets.holds($0, at: place) }
    }

    /// Whether an escape ends before a position, and represents a character other than a letter or digit. Examples: `\n`, `\u000a`
    /// (RFC 8259 §7), `%20` (RFC 3986 §2.1) and `%2520`.
    static func endsEscape(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        if place >= 2, octets[place - 2] == ASCII.backslash, "bfnrt".utf8.contains(octets[place - 1]) { return true }
        if place >= 6, octets[place - 6] == ASCII.backslash, octets[place - 5] == UInt8(ascii: "u"),
            let value = number(octets[place - 4..<place])
        {
            return !isWord(value)
        }
        guard place >= 3, let value = number(octets[place - 2..<place]) else { return false }
        var start = place - 2
        // The `%` may itself be escaped, as `%25`.
        while start >= 2, octets[start - 2] == UInt8(ascii: "2"), octets[start - 1] == UInt8(ascii: "5") { start -= 2 }
        return start > 0 && octets[start - 1] == UInt8(ascii: "%") && !isWord(value)
    }

    /// The end of a credential (RFC 9110 §11.2). URIs and forms escape some of its bytes.
    static func endOfToken68(in octets: UnsafeBufferPointer<UInt8>, from start: Int, behind blank: [UInt8]) -> Int {
        let isEscaped = blank != [ASCII.space]
        let plus = UInt8(ascii: "+")
        var end = start
        while end < octets.count, end - start < SecretScan.tokenLengthLimit {
            if isEscaped, octets[end] == UInt8(ascii: "%") {
                guard end + 2 < octets.count, let value = number(octets[end + 1..<end + 3]),
                    SecretScan.isToken68(UInt8(value))
                else { return end }
                end += 3
            } else if SecretScan.isToken68(octets[end]), blank != [plus] || octets[end] != plus {
                end += 1
            } else {
                return end
            }
        }
        return end
    }

    /// Whether a field of a query, a fragment or a form may begin at this position.
    static func beginsField(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        place == 0 || "?&;#[\n".utf8.contains(octets[place - 1]) || endsEscape(in: octets, at: place)
    }

    /// The value after `name=`, `name]=` or `name%3D`.
    static func fieldValue(in octets: UnsafeBufferPointer<UInt8>, behindNameEndingAt place: Int) -> Range<Int>? {
        var start = place
        if let bracket = closingBrackets.first(where: { octets.holds($0, at: start) }) { start += bracket.count }
        guard let sign = equals.first(where: { octets.holds($0, at: start) }) else { return nil }
        start += sign.count
        var end = start
        while end < octets.count, end - start < SecretScan.tokenLengthLimit {
            switch octets[end] {
            // Quotes and angle brackets end the value, because they enclose the text that contains the field.
            case _ where "&;#<>'\" \r\n".utf8.contains(octets[end]): return start..<end
            // JSON may escape a slash, which a value can contain. Before other bytes, a backslash ends the value.
            case ASCII.backslash:
                guard octets.holds([ASCII.backslash, ASCII.slash], at: end) else { return start..<end }
            // If the equals sign is escaped, so is the delimiter after the value.
            case UInt8(ascii: "%") where sign.count > 1 && end + 2 < octets.count:
                if let value = number(octets[end + 1..<end + 3]), value == 0x26 || value == 0x23 { return start..<end }
            default: break
            }
            end += 1
        }
        return start..<end
    }

    /// Decodes the entities of XML, and character references such as `&#65;` and `&#x41;` (XML 1.0 §4.1).
    static func withoutEntities(_ text: some Collection<UInt8>) -> [UInt8] {
        let text = Array(text)
        var result: [UInt8] = []
        var place = 0
        while let ampersand = text[place...].firstIndex(of: UInt8(ascii: "&")) {
            result += text[place..<ampersand]
            // No reference is longer than `&#x10FFFF;`.
            let part = text[ampersand...].prefix(10)
            if let end = part.firstIndex(of: ASCII.semicolon), let character = character(of: text[ampersand...end]) {
                result += Array(character.utf8)
                place = end + 1
            } else {
                result.append(text[ampersand])
                place = ampersand + 1
            }
        }
        return result + text[place...]
    }

    private static func character(of reference: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: reference, as: UTF8.self)
        if let entity = entities.first(where: { $0.0 == text }) { return entity.1 }
        let isHexadecimal = text.hasPrefix("&#x") || text.hasPrefix("&#X")
        guard text.hasPrefix("&#") else { return nil }
        return UInt32(text.dropFirst(isHexadecimal ? 3 : 2).dropLast(), radix: isHexadecimal ? 16 : 10)
            .flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }

    /// Decodes percent-encoding such as `%41` (RFC 3986 §2.1).
    static func unescaped(_ text: some Collection<UInt8>) -> [UInt8] { PercentEncoding.decode(Array(text).span) }

    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard let digit = ASCII.hexValue(digit) else { return nil }
            value = value << 4 | Int(digit)
        }
        return value
    }

    private static func isWord(_ value: Int) -> Bool {
        UInt8(exactly: value).map(ASCII.isWord) ?? false
    }
}
