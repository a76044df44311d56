import HTTPMessage
import ServerTrust

/// A day in UTC in the form of the settings, `2027-01-31`.
package struct CalendarDay: Equatable, Sendable, CustomStringConvertible {
    /// Days since 1970-01-01.
    private let number: Int64

    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], text.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == UInt8(ascii: "-") }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        number = date.daysSince1970
    }

    /// The day of a moment.
    package init(of time: POSIXTime) {
        let day: Int64 = 86_400
        number = time.seconds >= 0 ? time.seconds / day : (time.seconds - day + 1) / day
    }

    private init(number: Int64) { self.number = number }

    package var description: String {
        let date = CivilDate(daysSince1970: number)
        let digits = [(date.year, 4), (date.month, 2), (date.day, 2)].map { part, count in
            String(repeating: "0", count: max(0, count - "\(part)".count)) + "\(part)"
        }
        return digits.joined(separator: "-")
    }

    package var next: CalendarDay { CalendarDay(number: number + 1) }
    package var previous: CalendarDay { CalendarDay(number: number - 1) }

    package var firstSecond: POSIXTime { POSIXTime(seconds: number * 86_400) }
    package var lastSecond: POSIXTime { POSIXTime(seconds: number * 86_400 + 86_399) }
}
