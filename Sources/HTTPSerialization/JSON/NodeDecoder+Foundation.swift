import HTTPMessage

// A type of Foundation reads itself from a JSON value of a form of its own. So the type can be decoded without importing Foundation:
// it is recognized by its name, and gets the value in its form.
extension NodeDecoder {
    /// A decoder with the value in the form that this type of Foundation reads.
    /// - Returns: `nil` for other types, and for forms that are not converted.
    func converted(for type: (some Decodable).Type) throws -> (any Decoder)? {
        switch value {
        case .string, .number: break
        default: return nil
        }
        switch Self.foundationName(type) {
        case "Date": return try dateForm.map { NodeDecoder(.number($0), at: codingPath, of: settings) }
        case "Data" where settings.data == .base64:
            guard let text = value.string, let octets = Base64.decode(Array(text.utf8)) else { throw corrupted("base64") }
            return OctetDecoder(octets, at: codingPath)
        case "URL" where settings.readsURLs:
            guard value.string != nil else { throw mismatch("a string") }
            return NodeDecoder(.object(["relative": value]), at: codingPath, of: settings)
        case "Decimal" where settings.readsDecimals:
            guard let number = value.number else { throw mismatch("a number") }
            guard let parts = DecimalParts(number) else { throw corrupted("a number of at most 38 digits") }
            return NodeDecoder(parts.form, at: codingPath, of: settings)
        default: return nil
        }
    }

    private static func foundationName(_ type: (some Decodable).Type) -> Substring? {
        let name = _typeName(type, qualified: true)
        for module in ["Foundation.", "FoundationEssentials."] where name.hasPrefix(module) {
            return name.dropFirst(module.count)
        }
        return nil
    }

    /// The date in seconds since 2001.
    private var dateForm: JSONNumber? {
        get throws {
            let seconds: Double
            switch settings.dates {
            case .asGiven: return nil
            case .iso8601:
                guard let text = value.string else { throw mismatch("a string") }
                guard let date = InternetDate.secondsSince2001(text) else { throw corrupted("a date in ISO 8601") }
                seconds = date
            case .secondsSince1970, .millisecondsSince1970:
                guard let number = value.number, let count = Double(number) else { throw mismatch("a number") }
                let unit = settings.dates == .millisecondsSince1970 ? 1000.0 : 1
                seconds = count / unit - Double(InternetDate.secondsFrom1970To2001)
            }
            return JSONNumber(seconds)
        }
    }

    private func corrupted(_ expected: String) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(codingPath: codingPath, debugDescription: "expected \(expected), found another \(value.kind)"))
    }
}

/// The parts in which `Decimal` reads itself: 128 bits in eight integers, and a power of ten.
private struct DecimalParts {
    let form: JSONValue

    /// - Returns: `nil` for more than 128 bits of digits, and for a power of ten outside -128 to 127.
    init?(_ number: JSONNumber) {
        var mantissa: UInt128 = 0
        var exponent = 0
        var rest = number.text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        var isFraction = false
        // Zeros at the end are counted, and only multiplied if another digit follows: `1e30` written in digits has 31 of them.
        var zeros = 0
        while let octet = rest.first, octet | 0x20 != UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if octet == UInt8(ascii: ".") {
                isFraction = true
                continue
            }
            if isFraction { exponent -= 1 }
            zeros += 1
            if octet == UInt8(ascii: "0") { continue }
            for _ in 0..<(mantissa == 0 ? 0 : zeros) {
                let (product, overflow) = mantissa.multipliedReportingOverflow(by: 10)
                if overflow { return nil }
                mantissa = product
            }
            let (sum, overflow) = mantissa.addingReportingOverflow(UInt128(octet - UInt8(ascii: "0")))
            if overflow { return nil }
            mantissa = sum
            zeros = 0
        }
        if !rest.isEmpty {
            guard let power = Int(Substring(rest.dropFirst())), abs(power) < 1000 else { return nil }
            exponent += power
        }
        exponent += zeros
        if mantissa == 0 { exponent = 0 }
        guard (-128...127).contains(exponent) else { return nil }
        let words = (0..<8).map { UInt16(truncatingIfNeeded: mantissa >> (16 * $0)) }
        let length = 8 - words.reversed().prefix { $0 == 0 }.count
        form = .object([
            "exponent": .number(JSONNumber(exponent)), "length": .number(JSONNumber(length)),
            "isNegative": .bool(isNegative && mantissa != 0), "isCompact": .bool(true),
            "mantissa": .array(words.map { .number(JSONNumber($0)) }),
        ])
    }
}

/// Decodes bytes as `Data` reads itself: an array of numbers.
private struct OctetDecoder: Decoder {
    let octets: [UInt8]
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ octets: [UInt8], at path: [any CodingKey]) {
        self.octets = octets
        codingPath = path
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { OctetContainer(octets: octets, codingPath: codingPath) }
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw otherForm }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw otherForm }

    private var otherForm: DecodingError { OctetContainer.otherForm(codingPath) }
}

private struct OctetContainer: UnkeyedDecodingContainer {
    let octets: [UInt8]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(octets: [UInt8], codingPath: [any CodingKey]) {
        self.octets = octets
        self.codingPath = codingPath
    }

    var count: Int? { octets.count }
    var isAtEnd: Bool { currentIndex >= octets.count }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard !isAtEnd, let value = octets[currentIndex] as? Value else { throw Self.otherForm(codingPath) }
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> { throw Self.otherForm(codingPath) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.otherForm(codingPath) }
    mutating func superDecoder() throws -> any Decoder { throw Self.otherForm(codingPath) }

    static func otherForm(_ path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: "expected bytes"))
    }
}
