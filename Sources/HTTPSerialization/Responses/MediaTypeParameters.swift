import HTTPMessage

/// Parses the parameters of a media type (RFC 9110 §5.6.6): `type/subtype; name=token; name="quoted"`.
package enum MediaTypeParameters {
    /// The first parameter with this name, compared without regard to case; `nil` if there is none before the first syntax error.
    package static func value(of name: StaticString, in text: Span<UInt8>) -> String? {
        var index = 0
        while index < text.count, text[index] != ASCII.semicolon { index += 1 }
        while index < text.count, text[index] == ASCII.semicolon {
            index += 1
            skipBlanks(text, &index)
            let nameStart = index
            while index < text.count, ASCII.isTokenCharacter(text[index]) { index += 1 }
            let isWanted = text.extracting(nameStart..<index).equalsIgnoringCase(name)
            // Several semicolons may follow each other.
            if index > nameStart {
                guard index < text.count, text[index] == ASCII.equals else { return nil }
                index += 1
                guard let value = value(text, &index) else { return nil }
                if isWanted { return String(decoding: value, as: UTF8.self) }
            }
            skipBlanks(text, &index)
        }
        return nil
    }

    private static func skipBlanks(_ text: Span<UInt8>, _ index: inout Int) {
        while index < text.count, ASCII.isBlank(text[index]) { index += 1 }
    }

    private static func value(_ text: Span<UInt8>, _ index: inout Int) -> [UInt8]? {
        var value: [UInt8] = []
        guard index < text.count, text[index] == ASCII.quote else {
            while index < text.count, ASCII.isTokenCharacter(text[index]) {
                value.append(text[index])
                index += 1
            }
            return value.isEmpty ? nil : value
        }
        index += 1
        while index < text.count, text[index] != ASCII.quote {
            if text[index] == ASCII.backslash { index += 1 }
            guard index < text.count else { return nil }
            value.append(text[index])
            index += 1
        }
        guard index < text.count else { return nil }
        index += 1
        return value
    }
}
