import ServerTrust

/// What a refresh has done with the responses to each request. A later generation replaces all earlier responses to a request. So if
/// one response is recorded again, the other responses to the same request are recorded again too, even those that had not changed.
/// Confined to its recorder's thread.
struct RefreshedAnswers {
    /// Requests that match recordings with the same key, and that have the same secrets in this run.
    struct Group: Hashable {
        let recorded: SHA256Digest
        let secrets: SHA256Digest
    }

    private enum State {
        /// The number of responses so far, none of which has changed.
        case unchanged(Int)
        case recorded
    }

    private var states: [Group: State] = [:]

    /// The maximum number of groups. Requests beyond this limit are recorded again, which is always correct.
    static let limit = 1 << 20

    /// - Returns: whether the unchanged response need not be recorded again.
    mutating func staysUnchanged(_ group: Group) -> Bool {
        switch states[group] {
        case .recorded?: return false
        case .unchanged(let count)?: states[group] = .unchanged(count + 1)
        case nil:
            if states.count >= Self.limit { return false }
            states[group] = .unchanged(1)
        }
        return true
    }

    /// - Returns: the number of earlier, unchanged responses that must be recorded too.
    mutating func beginRecording(_ group: Group) -> Int {
        let state = states[group]
        if state != nil || states.count < Self.limit { states[group] = .recorded }
        return if case .unchanged(let count)? = state { count } else { 0 }
    }
}
