/// Whether what a rule matches may leave, and what recordings have to do with it, in place of what the settings say of all requests.
package enum RuleMode: Sendable {
    case live, offline, replay, record, recordMissing

    /// What was recorded is asked for.
    package var replays: Bool { self == .replay || self == .recordMissing }
    /// What goes out is recorded.
    package var records: Bool { self == .record || self == .recordMissing }
}
