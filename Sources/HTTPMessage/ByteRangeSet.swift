/// The byte ranges of a Range field (RFC 9110 §14.1.2, §14.2).
package struct ByteRangeSet: Equatable, Sendable {
    /// One range-spec of the field.
    package enum Specifier: Equatable, Sendable {
        /// `first-` or `first-last`; the range includes both positions.
        case from(UInt64, through: UInt64?)
        /// `-count`: the last bytes of the representation.
        case suffix(UInt64)

        /// The byte range in a representation of this length; `nil` if the range is not satisfiable.
        ///
        /// A suffix range of an empty representation is empty, and Content-Range cannot express an empty range. The Range field is then
        /// ignored, as RFC 9110 §14.2 permits.
        package func resolved(inLength length: UInt64) -> Range<UInt64>? {
            switch self {
            case .from(let first, let last):
                guard first < length else { return nil }
                let end = last.map { $0 < length ? $0 + 1 : length } ?? length
                return first..<end
            case .suffix(let count):
                guard count > 0 else { return nil }
                return (length > count ? length - count : 0)..<length
            }
        }
    }

    /// The maximum number of ranges. A field with more ranges is treated as abuse and ignored (RFC 9110 §14.2, §17.15).
    package static let specifierLimit = 16

    private let specifiers: [Specifier]
    package var count: Int { specifiers.count }

    /// Parses `bytes=…`. `nil` means that the field must be ignored, because of another unit, bad syntax or too many ranges.
    package init?(_ value: Span<UInt8>) {
        let unit: StaticString = "bytes="
        let unitCount = unit.utf8CodeUnitCount
        guard value.count > unitCount, value.extracting(0..<unitCount).equalsIgnoringCase(unit) else { return nil }
        var specifiers: [Specifier] = []
        var start = unitCount
        while start <= value.count {
            var end = start
            while end < value.count, value[end] != ASCII.comma { end += 1 }
            let element = value.trimmedBounds(in: start..<end)
            if !element.isEmpty {
                guard specifiers.count < Self.specifierLimit, let specifier = Self.specifier(value.extracting(element)) else {
                    return nil
                }
                specifiers.append(specifier)
            }
            start = end + 1
        }
        guard !specifiers.isEmpty else { return nil }
        self.specifiers = specifiers
    }

    package subscript(index: Int) -> Specifier { specifiers[index] }

    private static func specifier(_ text: Span<UInt8>) -> Specifier? {
        var dash = 0
        while dash < text.count, text[dash] != 0x2D { dash += 1 }
        guard dash < text.count else { return nil }
        let lastText = text.extracting(dash + 1..<text.count)
        if dash == 0 { return ContentRange.position(lastText).map { .suffix($0) } }
        guard let first = ContentRange.position(text.extracting(0..<dash)) else { return nil }
        if lastText.isEmpty { return .from(first, through: nil) }
        guard let last = ContentRange.position(lastText), first <= last else { return nil }
        return .from(first, through: last)
    }
}

/// The value of a Content-Range field with the unit `bytes` (RFC 9110 §14.4).
package enum ContentRange: Equatable, Sendable {
    /// The range of the content, at least one byte, and the complete length if known.
    case part(Range<UInt64>, of: UInt64?)
    /// The complete length without a range, `*/length`, as in a 416.
    case unsatisfied(length: UInt64)

    /// The largest supported length of a representation, in bytes (1 EiB). With this limit, sums of positions cannot overflow.
    package static let greatestLength: UInt64 = 1 << 60

    /// Parses the value. `nil` for another unit, an invalid value, or a length or position beyond `greatestLength`. Content with such a
    /// value is never combined with a stored response.
    package init?(_ value: Span<UInt8>) {
        let unit: StaticString = "bytes "
        let unitCount = unit.utf8CodeUnitCount
        guard value.count > unitCount, value.extracting(0..<unitCount).equalsIgnoringCase(unit) else { return nil }
        var slash = unitCount
        while slash < value.count, value[slash] != ASCII.slash { slash += 1 }
        guard slash < value.count else { return nil }
        let range = value.extracting(unitCount..<slash)
        let lengthText = value.extracting(slash + 1..<value.count)
        let length = Self.position(lengthText)
        if let length, length > Self.greatestLength { return nil }
        if range.equals("*") {
            guard let length else { return nil }
            self = .unsatisfied(length: length)
            return
        }
        guard length != nil || lengthText.equals("*") else { return nil }
        var dash = 0
        while dash < range.count, range[dash] != 0x2D { dash += 1 }
        guard dash < range.count, let first = Self.position(range.extracting(0..<dash)),
            let last = Self.position(range.extracting(dash + 1..<range.count)),
            first <= last, last < Self.greatestLength, length.map({ last < $0 }) ?? true
        else { return nil }
        self = .part(first..<last + 1, of: length)
    }

    package func write(into output: inout [UInt8]) {
        output.append("bytes ")
        switch self {
        case .part(let range, let length):
            precondition(!range.isEmpty, "A part holds at least one byte")
            output.append(decimal: range.lowerBound)
            output.append(0x2D)
            output.append(decimal: range.upperBound - 1)
            output.append(ASCII.slash)
            if let length { output.append(decimal: length) } else { output.append(0x2A) }
        case .unsatisfied(let length):
            output.append("*/")
            output.append(decimal: length)
        }
    }

    /// Parses 1*DIGIT. A number that is too large becomes `UInt64.max`, since no content is that long.
    package static func position(_ text: Span<UInt8>) -> UInt64? {
        guard !text.isEmpty else { return nil }
        var number: UInt64 = 0
        var overflowed = false
        for index in 0..<text.count {
            guard ASCII.isDigit(text[index]) else { return nil }
            let (product, first) = number.multipliedReportingOverflow(by: 10)
            let (sum, second) = product.addingReportingOverflow(UInt64(text[index] &- 0x30))
            overflowed = overflowed || first || second
            number = sum
        }
        return overflowed ? .max : number
    }
}
