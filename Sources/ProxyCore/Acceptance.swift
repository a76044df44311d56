import HTTPMessage

/// The weight that a request gives to a media type (RFC 9110 §12.5.1).
package enum Acceptance {
    /// The weight in thousandths of the most specific media range that includes the type; 0 if no range includes it.
    package static func weight(of type: StaticString, _ subtype: StaticString, in fields: Fields) -> Int {
        var found = (specificity: -1, weight: 0)
        for line in fields.lines where line.known == .accept {
            let value = fields.value(of: line)
            var elements = ListElements()
            while let element = elements.next(in: value) {
                let range = value.extracting(element)
                guard let specificity = specificity(of: range, for: type, subtype), specificity > found.specificity else {
                    continue
                }
                found = (specificity, weight(of: range))
            }
        }
        return found.weight
    }

    private static func specificity(of range: Span<UInt8>, for type: StaticString, _ subtype: StaticString) -> Int? {
        guard let media = MediaType(parsing: range) else { return nil }
        let (first, second) = (range.extracting(media.type.range), range.extracting(media.subtype.range))
        if first.equalsIgnoringCase(type) {
            if second.equalsIgnoringCase(subtype) { return 2 }
            return second.equalsIgnoringCase("*") ? 1 : nil
        }
        return first.equalsIgnoringCase("*") && second.equalsIgnoringCase("*") ? 0 : nil
    }

    /// The parameter `q` of a media range, in thousandths; 1000 if the range has no `q`.
    private static func weight(of range: Span<UInt8>) -> Int {
        var start = 0
        while start < range.count {
            var end = start
            while end < range.count, range[end] != ASCII.semicolon { end += 1 }
            let parameter = range.extracting(range.trimmedBounds(in: start..<end))
            if parameter.count > 2, parameter[0] | 0x20 == 0x71, parameter[1] == 0x3D {
                return thousandths(parameter.extracting(2..<parameter.count))
            }
            start = end + 1
        }
        return 1000
    }

    private static func thousandths(_ number: Span<UInt8>) -> Int {
        if number[0] != 0x30 { return 1000 }
        var result = 0
        var place = 100
        for index in 1..<max(1, number.count) where place > 0 && ASCII.isDigit(number[index]) {
            result += Int(number[index] - 0x30) * place
            place /= 10
        }
        return result
    }
}
