import CommandSupport
import Foundation
import HTTPMessage
import ServerTrust

extension ValueForm where Value == LarderSettings.Moment {
    /// The form of `newest`, the number of a generation, a time, or a day. A day means the end of that day (UTC).
    static let generation = text(
        "`newest`, a number, a day such as 2026-11-23, or a time such as 2026-11-23T10:00:00Z",
        schema: .object([("type", .array([.string("string"), .string("integer")]))]),
        parse: { text in
            if text == "newest" { return .newest }
            if let number = UInt32(text) { return .generation(number) }
            if let day = CalendarDay(text) { return .time(day.lastMillisecond) }
            guard let date = try? Date(text, strategy: .iso8601) else { return nil }  // the text is not a valid time
            return .time(Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1000)))
        },
        show: { moment in
            switch moment {
            case .newest: .plain("newest")
            case .generation(let number): .plain("\(number)")
            case .time(let time): .text(shown(time))
            }
        })

    private static func shown(_ time: Timestamp) -> String {
        let second = POSIXTime(seconds: time.seconds)
        let day = CalendarDay(of: second)
        return day.lastMillisecond == time ? "\(day)" : second.rfc3339
    }
}

extension CalendarDay {
    fileprivate var lastMillisecond: Timestamp { Timestamp(milliseconds: lastSecond.seconds * 1000 + 999) }
}
