import HTTPMessage

/// A date in a property list: seconds since the beginning of 2001, UTC, without leap seconds.
public struct PropertyListDate: Hashable, Sendable, CustomStringConvertible {
    /// The seconds may have a fraction, which the XML form does not support.
    public let secondsSince2001: Double

    /// The date this many seconds after the beginning of 2001.
    public init(secondsSince2001: Double) { self.secondsSince2001 = secondsSince2001 }

    /// Parses a text of exactly the form `2026-11-23T03:07:55Z`.
    public init?(_ text: String) {
        let octets = Array(text.utf8)
        let form = Array("0000-00-00T00:00:00Z".utf8)
        guard octets.count == form.count else { return nil }
        for (octet, shape) in zip(octets, form) {
            guard shape == UInt8(ascii: "0") ? ASCII.isDigit(octet) : octet == shape else { return nil }
        }
        func number(_ range: Range<Int>) -> Int { octets[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard year >= 1, (1...12).contains(month), hour < 24, minute < 60, second < 60 else { return nil }
        guard day >= 1, day <= Self.dayCount(of: month, year) else { return nil }
        let days = Self.days(to: year, month, day) - Self.days(to: 2001, 1, 1)
        secondsSince2001 = Double(((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    /// The date as in the XML form, in whole seconds; `nil` for a date outside the years 1 to 9999.
    public var text: String? {
        guard secondsSince2001.isFinite, abs(secondsSince2001) < 1e12 else { return nil }
        let total = Int(secondsSince2001.rounded(.down))
        let day = total >= 0 ? total / 86400 : (total - 86399) / 86400
        let second = total - day * 86400
        guard let (year, month, dayOfMonth) = Self.date(of: day + Self.days(to: 2001, 1, 1)) else { return nil }
        func digits(_ number: Int, _ count: Int) -> String { String(String(number + 100_000).suffix(count)) }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfMonth, 2))T"
            + "\(digits(second / 3600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))Z"
    }

    /// The date as in the XML form. A date outside the years 1 to 9999 is written in seconds since 2001.
    public var description: String { text ?? "\(secondsSince2001) s since 2001" }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func dayCount(of month: Int, _ year: Int) -> Int {
        month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days since March 1 of year 0 of the proleptic Gregorian calendar, so that a leap day is the last day of its year.
    private static func days(to year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let monthPlace = (month + 9) % 12
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (monthPlace * 306 + 5) / 10 + day - 1
    }

    private static func date(of day: Int) -> (year: Int, month: Int, day: Int)? {
        guard day >= days(to: 1, 1, 1), day <= days(to: 9999, 12, 31) else { return nil }
        var year = (day * 10_000 + 14_780) / 3_652_425
        var place = day - (365 * year + year / 4 - year / 100 + year / 400)
        if place < 0 {
            year -= 1
            place = day - (365 * year + year / 4 - year / 100 + year / 400)
        }
        let monthPlace = (100 * place + 52) / 3060
        return (
            year + (monthPlace + 2) / 12, (monthPlace + 2) % 12 + 1, place - (monthPlace * 306 + 5) / 10 + 1
        )
    }
}
