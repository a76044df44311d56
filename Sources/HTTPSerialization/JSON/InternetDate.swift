import HTTPMessage

/// Dates of RFC 3339, the profile of ISO 8601 for the Internet: `2026-11-23T03:07:55.25+01:00`.
enum InternetDate {
    static let secondsFrom1970To2001 = 978_307_200

    /// - Returns: the seconds since the beginning of 2001; `nil` if the text is not such a date. A leap second counts as the next second.
    static func secondsSince2001(_ text: String) -> Double? {
        var rest = Array(text.utf8)[...]
        guard rest.count >= 20, rest[10] | 0x20 == UInt8(ascii: "t") else { return nil }
        var whole = Array(rest.prefix(19))
        whole[10] = UInt8(ascii: "T")
        let isLeapSecond = Array(whole[17...]) == Array("60".utf8)
        if isLeapSecond { whole.replaceSubrange(17..., with: Array("59".utf8)) }
        guard let date = PropertyListDate(String(decoding: whole, as: UTF8.self) + "Z") else { return nil }
        rest = rest.dropFirst(19)
        var fraction = 0.0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: ASCII.isDigit)
            guard !digits.isEmpty, let value = Double("0." + String(decoding: digits, as: UTF8.self)) else { return nil }
            fraction = value
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = offset(Array(rest)) else { return nil }
        return date.secondsSince2001 + (isLeapSecond ? 1 : 0) - Double(offset) + fraction
    }

    /// The offset from UTC in seconds: `Z`, `+01:00` or `+0100`.
    private static func offset(_ zone: [UInt8]) -> Int? {
        if zone.count == 1, zone[0] | 0x20 == UInt8(ascii: "z") { return 0 }
        guard let sign = zone.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        var digits = Array(zone.dropFirst())
        if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
        guard digits.count == 4, digits.allSatisfy(ASCII.isDigit), let number = Int(String(decoding: digits, as: UTF8.self)),
            number / 100 < 24, number % 100 < 60
        else { return nil }
        let seconds = (number / 100 * 60 + number % 100) * 60
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }
}
