import HTTPMessage

/// The time in log lines, formatted once a second.
struct LogClock: Sendable {
    private var second: Int64 = -1
    private var millisecond: UInt64 = 0
    private var text: [UInt8] = []

    private static let textLimit = 32

    /// Reserves capacity once, so that a new second does not allocate.
    mutating func reserve() { text.reserveCapacity(Self.textLimit) }

    /// A time before 1970 is treated as the start of 1970. Each clock is for one format.
    mutating func advance(to time: Timestamp, for format: AccessLog.Format) {
        let time = Timestamp(milliseconds: max(0, time.milliseconds))
        millisecond = UInt64(time.milliseconds % 1000)
        if time.seconds == second { return }
        second = time.seconds
        text.removeAll(keepingCapacity: true)
        text.append(addingCapacity: Self.textLimit) { text in
            switch format {
            case .ndjson: LogTime(time).writeRFC3339Second(into: &text)
            case .combined: LogTime(time).writeCommon(into: &text)
            case .squid: break
            }
        }
    }

    /// The time in the form `2026-11-21T09:08:07.006Z`.
    func writeRFC3339(into line: inout OutputSpan<UInt8>) {
        line.append(text.span)
        line.append(decimal: millisecond, digitCount: 3)
        line.append(UInt8(ascii: "Z"))
    }

    /// The time in the form `21/Nov/2026:09:08:07 +0000`.
    func writeCommon(into line: inout OutputSpan<UInt8>) { line.append(text.span) }
}
