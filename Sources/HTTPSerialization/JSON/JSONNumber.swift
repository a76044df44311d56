import HTTPMessage

/// A JSON number, kept as text (RFC 8259 §6): `1.0`, `1e400` and numbers of twenty digits stay unchanged.
public struct JSONNumber: Hashable, Sendable {
    /// The text of the number, which follows the grammar exactly.
    public let text: String

    /// - Returns: `nil` if the text is not a JSON number.
    public init?(_ text: String) {
        var text = text
        let isNumber = text.withUTF8 { octets in
            !octets.isEmpty && JSONNumber.end(in: octets, from: 0) == .success(octets.count)
        }
        guard isNumber else { return nil }
        self.text = text
    }

    /// The integer in decimal.
    public init(_ value: some BinaryInteger) { text = String(value) }

    /// The number with the shortest digits that parse to the same value.
    /// - Returns: `nil` for infinities and NaN.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = value.description
    }

    /// Takes a text that the parser has already checked.
    init(parsed text: String) { self.text = text }

    /// The position after the number, or the position of the first byte that the grammar does not allow.
    static func end(in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> NumberEnd {
        var index = start
        if index < octets.count, octets[index] == UInt8(ascii: "-") { index += 1 }
        guard index < octets.count else { return .failure(index) }
        if octets[index] == UInt8(ascii: "0") {
            index += 1
        } else {
            guard ASCII.isDigit(octets[index]) else { return .failure(index) }
            skipDigits(in: octets, &index)
        }
        if index < octets.count, octets[index] == UInt8(ascii: ".") {
            index += 1
            guard index < octets.count, ASCII.isDigit(octets[index]) else { return .failure(index) }
            skipDigits(in: octets, &index)
        }
        if index < octets.count, octets[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < octets.count, octets[index] == UInt8(ascii: "+") || octets[index] == UInt8(ascii: "-") { index += 1 }
            guard index < octets.count, ASCII.isDigit(octets[index]) else { return .failure(index) }
            skipDigits(in: octets, &index)
        }
        return .success(index)
    }

    enum NumberEnd: Equatable {
        case success(Int)
        case failure(Int)
    }

    @inline(__always)
    private static func skipDigits(in octets: UnsafeBufferPointer<UInt8>, _ index: inout Int) {
        while index < octets.count, ASCII.isDigit(octets[index]) { index += 1 }
    }
}

extension Double {
    /// The nearest value, or `nil` if the number is beyond all finite values.
    public init?(_ number: JSONNumber) {
        guard let value = Double(number.text), value.isFinite else { return nil }
        self = value
    }
}

extension FixedWidthInteger {
    /// The number, if it is an integer that the type can represent: `12`, `-0`, also `1.0` and `1e3`; otherwise `nil`.
    public init?(exactly number: JSONNumber) {
        if let value = Self(number.text) {
            self = value
            return
        }
        guard let value = JSONNumber.wholeNumber(number.text, as: Self.self) else { return nil }
        self = value
    }
}

extension JSONNumber {
    /// Applies the exponent exactly; `nil` if nonzero digits remain after the decimal point.
    fileprivate static func wholeNumber<Integer: FixedWidthInteger>(_ text: String, as: Integer.Type) -> Integer? {
        var digits: [UInt8] = []
        var pointPlace: Int?
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        while let octet = rest.first, octet | 0x20 != UInt8(ascii: "e") {
            if octet == UInt8(ascii: ".") { pointPlace = digits.count } else { digits.append(octet) }
            rest = rest.dropFirst()
        }
        let zero = UInt8(ascii: "0")
        let leadingZeros = digits.prefix { $0 == zero }.count
        if leadingZeros == digits.count { return 0 }
        // If the exponent overflows, the number is not an integer of any type: no text has enough digits to offset the exponent.
        guard let exponent = rest.isEmpty ? 0 : Int(Substring(rest.dropFirst())) else { return nil }
        let (wholeCount, overflow) = (pointPlace ?? digits.count).addingReportingOverflow(exponent)
        guard !overflow, wholeCount - leadingZeros <= 40, wholeCount > 0 else { return nil }
        if wholeCount < digits.count {
            guard digits[wholeCount...].allSatisfy({ $0 == zero }) else { return nil }
            digits.removeLast(digits.count - wholeCount)
        } else {
            digits.append(contentsOf: repeatElement(zero, count: wholeCount - digits.count))
        }
        return Integer((isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self))
    }
}

extension JSONNumber: ExpressibleByIntegerLiteral {
    /// The integer in decimal.
    public init(integerLiteral value: Int) { self.init(value) }
}

extension JSONNumber: CustomStringConvertible {
    /// The number as text, for error messages.
    public var description: String { text }
}
