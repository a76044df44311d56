package import HTTPMessage

/// Times with milliseconds in the form of RFC 3339, as in HAR 1.2 and the audit log.
package enum RFC3339Time {
    /// `2027-01-31T12:00:00.006Z`
    package static func text(_ time: Timestamp) -> String {
        let seconds = POSIXTime(seconds: time.seconds).rfc3339.dropLast()
        let rest = String(time.milliseconds - time.seconds * 1000)
        return seconds + "." + String(repeating: "0", count: 3 - rest.utf8.count) + rest + "Z"
    }

    /// - Returns: `nil` if the text is not a date and time with a time zone.
    package static func read(_ text: String) -> Timestamp? {
        let octets = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= octets.count, octets[range].allSatisfy(ASCII.isDigit) else { return nil }
            return octets[range].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), let date = CivilDate(year: year, month: month, day: day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        var place = 19
        var milliseconds = 0
        if place < octets.count, octets[place] == UInt8(ascii: ".") {
            let digits = octets[(place + 1)...].prefix(while: ASCII.isDigit)
            let three = (digits.prefix(3) + [0x30, 0x30, 0x30]).prefix(3)
            milliseconds = three.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            place = digits.endIndex
        }
        guard place < octets.count else { return nil }
        var offset = 0
        if octets[place] == UInt8(ascii: "+") || octets[place] == UInt8(ascii: "-") {
            guard let hours = number(place + 1..<place + 3), let minutes = number(place + 4..<place + 6) else { return nil }
            offset = (hours * 60 + minutes) * (octets[place] == UInt8(ascii: "+") ? 60 : -60)
        } else if octets[place] | 0x20 != UInt8(ascii: "z") {
            return nil
        }
        let seconds = Int(date.daysSince1970) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Timestamp(milliseconds: Int64(seconds * 1000 + milliseconds))
    }
}
