import HTTPMessage

/// A text without its escapes, and the position of each of its bytes in the escaped text.
struct DecodedText {
    private(set) var octets: [UInt8] = []
    /// The position of each byte in the escaped text. One more element is the position of the end.
    private var places: [Int] = []

    /// - Returns: the position of a range in the escaped text.
    func source(of range: Range<Int>) -> Range<Int> { places[range.lowerBound]..<places[range.upperBound] }

    private mutating func append(_ octets: some Collection<UInt8>, at place: Int) {
        self.octets += octets
        places += repeatElement(place, count: octets.count)
    }

    /// Decodes percent-encoding (RFC 3986 §2.1), and plus signs as spaces, as in forms and queries.
    init(percentEncoded octets: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        let text = octets.span.extracting(..<range.upperBound)
        var place = range.lowerBound
        while place < range.upperBound {
            if let byte = PercentEncoding.byte(in: text, at: place) {
                append([byte], at: place)
                place += 3
            } else {
                append([octets[place] == UInt8(ascii: "+") ? ASCII.space : octets[place]], at: place)
                place += 1
            }
        }
        places.append(range.upperBound)
    }

    /// Decodes the escapes of a JSON string (RFC 8259 §7). Invalid escapes stay as they are.
    init(jsonEscaped octets: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        var place = range.lowerBound
        while place < range.upperBound {
            guard octets[place] == ASCII.backslash, place + 1 < range.upperBound else {
                append([octets[place]], at: place)
                place += 1
                continue
            }
            if octets[place + 1] == UInt8(ascii: "u"), let scalar = Self.scalar(octets, at: place, before: range.upperBound) {
                append(Array(String(scalar.value).utf8), at: place)
                place = scalar.end
            } else {
                append([Self.escapes[octets[place + 1]] ?? octets[place + 1]], at: place)
                place += 2
            }
        }
        places.append(range.upperBound)
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
    ]

    /// Reads `\u0041`, or a surrogate pair for a character beyond the first 65,536.
    private static func scalar(
        _ octets: UnsafeBufferPointer<UInt8>, at place: Int, before limit: Int
    ) -> (value: Character, end: Int)? {
        func unit(_ place: Int) -> UInt32? {
            guard place + 6 <= limit, octets[place] == ASCII.backslash, octets[place + 1] == UInt8(ascii: "u") else { return nil }
            var value: UInt32 = 0
            for digit in octets[place + 2..<place + 6] {
                guard let digit = ASCII.hexValue(digit) else { return nil }
                value = value << 4 | UInt32(digit)
            }
            return value
        }
        guard let first = unit(place) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (Character(scalar), place + 6) }
        guard first >> 10 == 0xD800 >> 10, let second = unit(place + 6), second >> 10 == 0xDC00 >> 10,
            let scalar = Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + (second & 0x3FF))
        else { return nil }
        return (Character(scalar), place + 12)
    }
}
