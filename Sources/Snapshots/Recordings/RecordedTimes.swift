import HTTPMessage

/// When an exchange was recorded, and the duration of each phase.
package struct RecordedTimes: Equatable, Sendable {
    /// The phases in order, as named by HAR 1.2.
    package enum Phase: Int, CaseIterable, Sendable {
        case blocked, dns, connect, tls, send, wait, receive
    }

    /// The times at which a recording may start, in seconds since 1970: all times that an HTTP-date can express.
    static let startSeconds = CivilDate.earliest...CivilDate.latest

    package var started: Timestamp
    /// Durations in microseconds, by phase; `nil` if a phase did not happen or was not measured.
    package var phases: [Int64?]

    package init(started: Timestamp, phases: [Int64?] = []) {
        self.started = started
        self.phases = Phase.allCases.map { phases.indices.contains($0.rawValue) ? phases[$0.rawValue] : nil }
    }

    package subscript(phase: Phase) -> Int64? {
        get { phases[phase.rawValue] }
        set { phases[phase.rawValue] = newValue }
    }

    /// The sum of the measured phases, in microseconds.
    package var total: Int64 { phases.reduce(0) { $0 &+ ($1 ?? 0) } }
}
