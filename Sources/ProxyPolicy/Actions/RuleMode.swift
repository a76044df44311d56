/// Whether requests that match a rule may be forwarded, and how they use recordings. Overrides the mode that the settings give for all
/// requests.
package enum RuleMode: Sendable {
    case live, offline, replay, record, recordMissing

    /// Whether Larder looks for a recorded response.
    package var replays: Bool { self == .replay || self == .recordMissing }
    /// Whether Larder records forwarded requests.
    package var records: Bool { self == .record || self == .recordMissing }
}
