import HTTPMessage

/// When an exchange was recorded, and how long each phase of it took.
package struct RecordedTimes: Equatable, Sendable {
    /// The phases in order, as HAR 1.2 names them.
    package enum Phase: Int, CaseIterable, Sendable {
        case blocked, dns, connect, tls, send, wait, receive
    }

    /// The times at which a recording may start, in seconds since 1970: those that have a date.
    static let startSeconds = CivilDate.earliest...CivilDate.latest

    package var started: Timestamp
    /// In microseconds, by phase; `nil` where a phase did not happen or was not measured.
    package var phases: [Int64?]

    package init(started: Timestamp, phases: [Int64?] = []) {
        self.started = started
        self.phases = Phase.allCases.map { phases.indices.contains($0.rawValue) ? phases[$0.rawValue] : nil }
    }

    package subscript(phase: Phase) -> Int64? {
        get { phases[phase.rawValue] }
        set { phases[phase.rawValue] = newValue }
    }

    /// In microseconds: what was measured, together.
    package var total: Int64 { phases.reduce(0) { $0 &+ ($1 ?? 0) } }
}
