/// HTTP-date (RFC 9110 §5.6.7) in its three forms, as seconds since 1970.
enum ModelDate {
    enum Form: CaseIterable { case fixdate, rfc850, asctime }

    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// RFC 9111 §4.2: "a cache recipient SHOULD match the field value case-insensitively", and "SHOULD consider a date with a
    /// zone abbreviation other than "GMT" to be invalid".
    static func seconds(_ text: String) -> Int? {
        let words = text.lowercased().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        if words.count == 6, words[0].hasSuffix(","), days.contains(String(words[0].dropLast())) {
            return fixdate(words)
        }
        if words.count == 4, words[0].hasSuffix(","), longDays.contains(String(words[0].dropLast())) {
            return rfc850(words)
        }
        return days.contains(words[0]) ? asctime(words) : nil
    }

    private static func fixdate(_ words: [String]) -> Int? {
        guard words[5] == "gmt" else { return nil }
        return seconds(day: number(words[1], 2), month: words[2], year: number(words[3], 4), time: words[4])
    }

    /// "MUST interpret a timestamp that appears to be more than 50 years in the future as representing the most recent year in the past
    /// that had the same last two digits." The generated years are near 2023.
    private static func rfc850(_ words: [String]) -> Int? {
        let parts = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard words[3] == "gmt", parts.count == 3, let year = number(parts[2], 2) else { return nil }
        return seconds(day: number(parts[0], 2), month: parts[1], year: year > 73 ? 1900 + year : 2000 + year, time: words[2])
    }

    private static func asctime(_ words: [String]) -> Int? {
        var words = words
        // A one-digit day has a leading space, which makes an empty word.
        if words.count == 6, words[2].isEmpty, words[3].utf8.count == 1 {
            words.remove(at: 2)
            words[2] = "0" + words[2]
        }
        guard words.count == 5 else { return nil }
        return seconds(day: number(words[2], 2), month: words[1], year: number(words[4], 4), time: words[3])
    }

    private static func number(_ text: String, _ digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func seconds(day: Int?, month: String, year: Int?, time: String) -> Int? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 2) }
        guard let day, let year, let month = months.firstIndex(of: month), parts.count == 3, (1...31).contains(day),
            let hour = parts[0], let minute = parts[1], let second = parts[2], hour < 24, minute < 60, second <= 60
        else { return nil }
        return daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(ofMonth month: Int, in year: Int) -> Int {
        month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }

    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        var count = daysBefore(year) + day - 1
        for past in 0..<month { count += length(ofMonth: past, in: year) }
        return count
    }

    /// Days from 1970 to the beginning of the year; there were 477 leap days before 1970.
    private static func daysBefore(_ year: Int) -> Int {
        let past = year - 1
        return (year - 1970) * 365 + past / 4 - past / 100 + past / 400 - 477
    }

    static func text(_ seconds: Int, _ form: Form = .fixdate) -> String {
        var days = seconds / 86_400
        let weekday = (days + 4) % 7
        var year = 1970 + days / 366
        while daysBefore(year + 1) <= days { year += 1 }
        days -= daysBefore(year)
        var month = 0
        while days >= length(ofMonth: month, in: year) {
            days -= length(ofMonth: month, in: year)
            month += 1
        }
        let time = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map(twoDigits).joined(separator: ":")
        let name = months[month].capitalized
        switch form {
        case .fixdate: return "\(self.days[weekday].capitalized), \(twoDigits(days + 1)) \(name) \(year) \(time) GMT"
        case .rfc850:
            return "\(longDays[weekday].capitalized), \(twoDigits(days + 1))-\(name)-\(twoDigits(year % 100)) \(time) GMT"
        case .asctime: return "\(self.days[weekday].capitalized) \(name) \(days < 9 ? " " : "")\(days + 1) \(time) \(year)"
        }
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
