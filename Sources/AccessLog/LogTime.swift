import HTTPMessage
import ServerTrust

/// A time as year, month, day and time of day in UTC, for log lines.
struct LogTime {
    let year: UInt64
    let month: UInt64
    let day: UInt64
    let hour: UInt64
    let minute: UInt64
    let second: UInt64

    /// A time before 1970 is treated as the start of 1970.
    init(_ time: Timestamp) {
        let seconds = UInt64(max(0, time.seconds))
        hour = seconds / 3600 % 24
        minute = seconds / 60 % 60
        second = seconds % 60
        // Days since 0000-03-01, in eras of 400 years, so that the leap day is the last of its year.
        let days = seconds / 86_400 + 719_468
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = days / 146_097 * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The part of the time that stays the same within a second, such as `2026-11-21T09:08:07.`.
    func writeRFC3339Second(into output: inout OutputSpan<UInt8>) {
        output.append(decimal: year, digitCount: 4)
        output.append(UInt8(ascii: "-"))
        output.append(decimal: month, digitCount: 2)
        output.append(UInt8(ascii: "-"))
        output.append(decimal: day, digitCount: 2)
        output.append(UInt8(ascii: "T"))
        writeTimeOfDay(into: &output)
        output.append(UInt8(ascii: "."))
    }

    /// The time in the form `21/Nov/2026:09:08:07 +0000`.
    func writeCommon(into output: inout OutputSpan<UInt8>) {
        output.append(decimal: day, digitCount: 2)
        output.append(ASCII.slash)
        output.append(Self.monthName(month))
        output.append(ASCII.slash)
        output.append(decimal: year, digitCount: 4)
        output.append(ASCII.colon)
        writeTimeOfDay(into: &output)
        output.append(" +0000")
    }

    private func writeTimeOfDay(into output: inout OutputSpan<UInt8>) {
        output.append(decimal: hour, digitCount: 2)
        output.append(ASCII.colon)
        output.append(decimal: minute, digitCount: 2)
        output.append(ASCII.colon)
        output.append(decimal: second, digitCount: 2)
    }

    private static func monthName(_ month: UInt64) -> StaticString {
        switch month {
        case 1: "Jan"
        case 2: "Feb"
        case 3: "Mar"
        case 4: "Apr"
        case 5: "May"
        case 6: "Jun"
        case 7: "Jul"
        case 8: "Aug"
        case 9: "Sep"
        case 10: "Oct"
        case 11: "Nov"
        default: "Dec"
        }
    }
}

extension Timestamp {
    /// The time in the form `2026-11-21T09:08:07.006Z`.
    package var rfc3339: String { RFC3339Time.text(Timestamp(milliseconds: max(0, milliseconds))) }
}
