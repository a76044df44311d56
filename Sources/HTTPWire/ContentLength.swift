import HTTPMessage

/// Parses the value of `Content-Length` (RFC 9110 §8.6), which has only digits.
enum ContentLength {
    /// The number; `nil` if the value has any byte that is not a digit, or if the number is above `Int64.max`, the limit of Larder's
    /// counters.
    static func parse(_ digits: Span<UInt8>) -> UInt64? {
        guard !digits.isEmpty else { return nil }
        var length: UInt64 = 0
        for index in 0..<digits.count {
            guard ASCII.isDigit(digits[index]) else { return nil }
            let (product, overflows) = length.multipliedReportingOverflow(by: 10)
            guard !overflows, product <= UInt64(Int64.max) - 9 || product <= UInt64(Int64.max) - UInt64(digits[index] - 0x30)
            else { return nil }
            length = product + UInt64(digits[index] - 0x30)
        }
        return length
    }

    /// The length, in the common case of one line without a list; otherwise `nil`.
    static func single(in fields: Fields) -> UInt64? {
        guard let index = fields.index(of: .contentLength),
            fields.index(of: .contentLength, from: index + 1) == nil
        else { return nil }
        return parse(fields.value(of: fields.lines[index]))
    }

    enum Combined: Equatable {
        case length(UInt64)
        case conflicting, malformed
    }

    /// The length, if all lines and all list elements have the same value (RFC 9112 §6.3, rule 5).
    static func combined(in fields: Fields) -> Combined {
        if let length = single(in: fields) { return .length(length) }
        var agreed: UInt64?
        for line in fields.lines where line.known == .contentLength {
            let value = fields.value(of: line)
            var elements = ListElements()
            var isEmpty = true
            while let element = elements.next(in: value) {
                isEmpty = false
                guard let length = parse(value.extracting(element)) else { return .malformed }
                if let agreed, agreed != length { return .conflicting }
                agreed = length
            }
            if isEmpty { return .malformed }
        }
        return agreed.map { .length($0) } ?? .malformed
    }
}

extension ResponseHead {
    /// Leaves at most one Content-Length line, which is valid, as HTTP/2 requires (RFC 9113 §8.1.1). Lines that are malformed or differ
    /// are removed. In HTTP/1.1 a response without content, such as a response to HEAD, may have such lines.
    package mutating func normalizeContentLength() {
        guard fields.contains(.contentLength), ContentLength.single(in: fields) == nil else { return }
        let combined = ContentLength.combined(in: fields)
        fields.remove(.contentLength)
        guard case .length(let length) = combined else { return }
        fields.append(name: Array("content-length".utf8).span, value: Array("\(length)".utf8).span)
    }
}
