/// HTTP-date (RFC 9110 §5.6.7). Parses all three forms, and writes IMF-fixdate.
package enum HTTPDate {
    /// The time that a field value gives; `nil` if the value is not an HTTP-date.
    ///
    /// Names are compared case-insensitively, and GMT is the only zone accepted (RFC 9111 §4.2).
    /// - Parameter now: the current time, which decides the century of the two-digit year in the RFC 850 form.
    package static func parse(_ value: Span<UInt8>, now: Timestamp) -> Timestamp? {
        switch value.count {
        case 29: fixdate(value)
        case 24: asctime(value)
        case 30...33: rfc850(value, now: now)
        default: nil
        }
    }

    /// Writes the time as an IMF-fixdate, which always has 29 bytes. The time is rounded down to the second. Years after 9999 are
    /// written as 9999.
    package static func write(_ time: Timestamp, into output: inout [UInt8]) {
        let seconds = min(max(time.seconds, CivilDate.earliest), CivilDate.latest)
        let day = CivilDate.floorDivide(seconds, by: 86_400)
        let second = Int(seconds - day * 86_400)
        let date = CivilDate(daysSince1970: day)
        // 1970-01-01 was a Thursday, which has the index 4 in this table.
        let weekday = Int(((day % 7) + 11) % 7)
        append(name: Self.dayNames, at: weekday, into: &output)
        output.append(ASCII.comma)
        output.append(ASCII.space)
        append(twoDigits: date.day, into: &output)
        output.append(ASCII.space)
        append(name: Self.monthNames, at: date.month - 1, into: &output)
        output.append(ASCII.space)
        append(twoDigits: date.year / 100, into: &output)
        append(twoDigits: date.year % 100, into: &output)
        output.append(ASCII.space)
        append(twoDigits: second / 3600, into: &output)
        output.append(ASCII.colon)
        append(twoDigits: second / 60 % 60, into: &output)
        output.append(ASCII.colon)
        append(twoDigits: second % 60, into: &output)
        output.append(" GMT")
    }

    // MARK: The three forms

    /// Parses an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixdate(_ value: Span<UInt8>) -> Timestamp? {
        guard isDayName(value, at: 0), value.holds(", ", at: 3),
            let day = twoDigits(value, at: 5), value.holds(" ", at: 7),
            let month = month(value, at: 8), value.holds(" ", at: 11),
            let century = twoDigits(value, at: 12), let year = twoDigits(value, at: 14), value.holds(" ", at: 16),
            let time = timeOfDay(value, at: 17), value.holds(" gmt", at: 25)
        else { return nil }
        return moment(year: century * 100 + year, month: month, day: day, secondOfDay: time)
    }

    /// Parses the form of asctime: `Sun Nov  6 08:49:37 1994`.
    private static func asctime(_ value: Span<UInt8>) -> Timestamp? {
        guard isDayName(value, at: 0), value.holds(" ", at: 3),
            let month = month(value, at: 4), value.holds(" ", at: 7),
            let day = value[8] == ASCII.space ? digit(value, at: 9) : twoDigits(value, at: 8), value.holds(" ", at: 10),
            let time = timeOfDay(value, at: 11), value.holds(" ", at: 19),
            let century = twoDigits(value, at: 20), let year = twoDigits(value, at: 22)
        else { return nil }
        return moment(year: century * 100 + year, month: month, day: day, secondOfDay: time)
    }

    /// Parses the form of RFC 850: `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func rfc850(_ value: Span<UInt8>, now: Timestamp) -> Timestamp? {
        let nameCount = value.count - 24
        guard isLongDayName(value, count: nameCount), value.holds(", ", at: nameCount) else { return nil }
        let start = nameCount + 2
        guard let day = twoDigits(value, at: start), value.holds("-", at: start + 2),
            let month = month(value, at: start + 3), value.holds("-", at: start + 6),
            let shortYear = twoDigits(value, at: start + 7), value.holds(" ", at: start + 9),
            let time = timeOfDay(value, at: start + 10), value.holds(" gmt", at: start + 18)
        else { return nil }
        // A date that appears to be more than 50 years ahead means the most recent year in the past with the same last two digits (RFC
        // 9110 §5.6.7).
        let thisYear = CivilDate(daysSince1970: CivilDate.floorDivide(now.seconds, by: 86_400)).year
        var year = thisYear - thisYear % 100 + shortYear
        if year <= thisYear - 50 { year += 100 }
        if year > thisYear + 50 { year -= 100 }
        guard let result = moment(year: year, month: month, day: day, secondOfDay: time) else { return nil }
        if year == thisYear + 50, let horizon = moment(sameDayAs: now, inYear: year), result > horizon {
            return moment(year: year - 100, month: month, day: day, secondOfDay: time)
        }
        return result
    }

    // MARK: Pieces

    private static let dayNames: StaticString = "SunMonTueWedThuFriSat"
    private static let monthNames: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"

    private static func append(name names: StaticString, at index: Int, into output: inout [UInt8]) {
        for offset in 0..<3 { output.append(names.utf8Start[index * 3 + offset]) }
    }

    private static func append(twoDigits number: Int, into output: inout [UInt8]) {
        output.append(0x30 + UInt8(number / 10))
        output.append(0x30 + UInt8(number % 10))
    }

    private static func digit(_ value: Span<UInt8>, at index: Int) -> Int? {
        ASCII.isDigit(value[index]) ? Int(value[index] &- 0x30) : nil
    }

    private static func twoDigits(_ value: Span<UInt8>, at index: Int) -> Int? {
        guard let tens = digit(value, at: index), let ones = digit(value, at: index + 1) else { return nil }
        return tens * 10 + ones
    }

    /// The index of a three-letter name in a table of such names.
    private static func index(in names: StaticString, of value: Span<UInt8>, at start: Int) -> Int? {
        for candidate in 0..<names.utf8CodeUnitCount / 3 {
            let name = names.utf8Start + candidate * 3
            if (0..<3).allSatisfy({ ASCII.lowercased(value[start + $0]) == ASCII.lowercased(name[$0]) }) { return candidate }
        }
        return nil
    }

    private static func isDayName(_ value: Span<UInt8>, at start: Int) -> Bool {
        index(in: dayNames, of: value, at: start) != nil
    }

    private static func isLongDayName(_ value: Span<UInt8>, count: Int) -> Bool {
        let name = value.extracting(0..<count)
        return name.equalsIgnoringCase("sunday") || name.equalsIgnoringCase("monday")
            || name.equalsIgnoringCase("tuesday") || name.equalsIgnoringCase("wednesday")
            || name.equalsIgnoringCase("thursday") || name.equalsIgnoringCase("friday")
            || name.equalsIgnoringCase("saturday")
    }

    private static func month(_ value: Span<UInt8>, at start: Int) -> Int? {
        index(in: monthNames, of: value, at: start).map { $0 + 1 }
    }

    /// Parses a time from 00:00:00 to 23:59:60. A leap second is treated as the first second of the next minute.
    private static func timeOfDay(_ value: Span<UInt8>, at start: Int) -> Int? {
        guard let hour = twoDigits(value, at: start), value[start + 2] == ASCII.colon,
            let minute = twoDigits(value, at: start + 3), value[start + 5] == ASCII.colon,
            let second = twoDigits(value, at: start + 6), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func moment(year: Int, month: Int, day: Int, secondOfDay: Int) -> Timestamp? {
        guard let date = CivilDate(year: year, month: month, day: day) else { return nil }
        // A leap second at the end of 9999 would fall into a year that four digits cannot express.
        return Timestamp(seconds: min(date.daysSince1970 * 86_400 + Int64(secondOfDay), CivilDate.latest))
    }

    private static func moment(sameDayAs time: Timestamp, inYear year: Int) -> Timestamp? {
        let days = CivilDate.floorDivide(time.seconds, by: 86_400)
        let date = CivilDate(daysSince1970: days)
        // Most years have no 29th of February, so the day before is used. This is accurate enough for a limit of 50 years.
        let day = date.month == 2 ? min(date.day, 28) : date.day
        return moment(year: year, month: date.month, day: day, secondOfDay: Int(time.seconds - days * 86_400))
    }
}

/// A day of the proleptic Gregorian calendar.
package struct CivilDate {
    package let year: Int
    package let month: Int
    package let day: Int

    /// 0000-01-01 and 9999-12-31T23:59:59, in seconds since 1970: the limits of a four-digit year.
    package static let earliest: Int64 = -62_167_219_200
    package static let latest: Int64 = 253_402_300_799

    /// - Returns: `nil` for a date that does not exist.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), day >= 1, day <= Self.length(ofMonth: month, year: year) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Counts days in eras of 400 years, which have 146,097 days and begin on the 1st of March.
    package init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = Self.floorDivide(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = Self.floorDivide(shiftedYear, by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func floorDivide(_ number: Int64, by divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

extension Span<UInt8> {
    /// Whether the span has this text at `start`, compared case-insensitively. `text` must be in lower case, and the span must be long
    /// enough.
    fileprivate func holds(_ lowercase: StaticString, at start: Int) -> Bool {
        let expected = lowercase.utf8Start
        for index in 0..<lowercase.utf8CodeUnitCount where ASCII.lowercased(self[start + index]) != expected[index] {
            return false
        }
        return true
    }
}
