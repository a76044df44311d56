import Foundation
import HTTPMessage
import ProxyAdmin
import ServerTrust

extension ValueForm where Value == LarderSettings.Moment {
    /// The word, the number of a generation, or a time.
    static let generation = text(
        "`newest`, a number, or a time such as 2026-11-23T10:00:00Z",
        schema: .object([("type", .array([.string("string"), .string("integer")]))]),
        parse: { text in
            if text == "newest" { return .newest }
            if let number = UInt32(text) { return .generation(number) }
            guard let date = try? Date(text, strategy: .iso8601) else { return nil }  // no time, no moment
            return .time(Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1000)))
        },
        show: { moment in
            switch moment {
            case .newest: .plain("newest")
            case .generation(let number): .plain("\(number)")
            case .time(let time): .text(POSIXTime(seconds: time.seconds).rfc3339)
            }
        })
}
