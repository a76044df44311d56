import HTTPMessage
import SecretScanning

/// Replaces each UUID and each time in a text by a mark.
enum VolatileText {
    private static let uuidMark = Array("{uuid}".utf8)
    private static let timeMark = Array("{time}".utf8)
    /// The first seconds of the years 2000 and 2100. If times are replaced by a mark, numbers in this range are treated as times.
    private static let seconds: ClosedRange<UInt64> = 946_684_800...4_102_444_800

    static func marked(_ text: [UInt8], uuids: Bool, times: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        text.withUnsafeBufferPointer { octets in
            var place = 0
            while place < octets.count {
                let isInWord = place > 0 && ASCII.isWord(octets[place - 1])
                if !isInWord, uuids, let end = endOfUUID(in: octets, at: place) {
                    result += uuidMark
                    place = end
                } else if !isInWord, times, let end = endOfTime(in: octets, at: place) {
                    result += timeMark
                    place = end
                } else {
                    result.append(octets[place])
                    place += 1
                }
            }
        }
        return result
    }

    /// The end of a UUID (RFC 9562 §4), which has the form `8-4-4-4-12` in hexadecimal digits.
    private static func endOfUUID(in octets: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        var place = start
        for (index, count) in [8, 4, 4, 4, 12].enumerated() {
            if index > 0 {
                guard octets.holds([UInt8(ascii: "-")], at: place) else { return nil }
                place += 1
            }
            guard octets.end(from: place, limit: count, while: { ASCII.hexValue($0) != nil }) == place + count else { return nil }
            place += count
        }
        return octets.continuesWord(at: place) ? nil : place
    }

    private static func endOfTime(in octets: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        if ASCII.isDigit(octets[start]) { return endOfDate(in: octets, at: start) ?? endOfSeconds(in: octets, at: start) }
        // A date in the form IMF-fixdate (RFC 9110 §5.6.7) has 29 bytes.
        guard ASCII.isAlpha(octets[start]), octets.count - start >= 29 else { return nil }
        let date = Array(octets[start..<start + 29])
        return HTTPDate.parse(date.span, now: Timestamp(seconds: 0)) == nil ? nil : start + 29
    }

    /// The end of a date such as `2026-11-23T06:23:31.123+00:00` (RFC 3339 §5.6). A space or `%20` may separate date and time, and
    /// colons may be escaped.
    private static func endOfDate(in octets: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        var place = start
        func digits(_ count: Int) -> Bool {
            guard octets.end(from: place, limit: count, while: ASCII.isDigit) == place + count else { return false }
            place += count
            return true
        }
        func one(of texts: [String]) -> Bool {
            guard let text = texts.first(where: { octets.holds(Array($0.utf8), at: place) }) else { return false }
            place += text.utf8.count
            return true
        }
        let colon = [":", "%3A", "%3a"]
        guard digits(4), one(of: ["-"]), digits(2), one(of: ["-"]), digits(2), one(of: ["T", "t", " ", "%20", "+"]), digits(2),
            one(of: colon), digits(2)
        else { return nil }
        if one(of: colon), !digits(2) { return nil }
        if one(of: ["."]) { place = octets.end(from: place, limit: 9, while: ASCII.isDigit) }
        let zone = place
        if one(of: ["Z", "z"]) { return place }
        if one(of: ["+", "-", "%2B", "%2b"]), digits(2), one(of: colon), digits(2) { return place }
        return zone
    }

    private static func endOfSeconds(in octets: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        let end = octets.end(from: start, limit: 14, while: ASCII.isDigit)
        guard end - start == 10 || end - start == 13, !octets.continuesWord(at: end) else { return nil }
        let number = octets[start..<start + 10].reduce(UInt64(0)) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
        return seconds.contains(number) ? end : nil
    }
}
