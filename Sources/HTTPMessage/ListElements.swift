/// Iterates over the elements of a comma-separated list (RFC 9110 §5.6.1); commas within quoted strings do not separate.
///
///     var elements = ListElements()
///     while let element = elements.next(in: value) { … value.extracting(element) … }
///
/// Elements have no surrounding blanks. Empty elements are skipped, as recipients must do. A quoted string without a closing quote
/// extends to the end of the value.
package struct ListElements: Sendable {
    private var position = 0

    package init() {}

    package mutating func next(in value: Span<UInt8>) -> Range<Int>? {
        while position < value.count {
            let start = position
            let end = Self.endOfElement(from: start, in: value)
            position = end + 1
            let element = value.trimmedBounds(in: start..<end)
            if !element.isEmpty { return element }
        }
        return nil
    }

    private static func endOfElement(from start: Int, in value: Span<UInt8>) -> Int {
        var index = start
        var isQuoted = false
        while index < value.count {
            let byte = value[index]
            if byte == ASCII.quote {
                isQuoted.toggle()
            } else if isQuoted, byte == ASCII.backslash {
                index += 1
            } else if byte == ASCII.comma, !isQuoted {
                return index
            }
            index += 1
        }
        return value.count
    }
}
