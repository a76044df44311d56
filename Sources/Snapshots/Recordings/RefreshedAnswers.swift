import ServerTrust

/// The results of a refresh for the responses to each request. A later generation replaces all earlier responses to a request. So if
/// one response is recorded again, the others are recorded again too, including earlier ones that had not changed. Confined to its
/// recorder's thread.
struct RefreshedAnswers {
    /// Requests that match one recording's key and now have the same secrets.
    struct Group: Hashable {
        let recorded: SHA256Digest
        let secrets: SHA256Digest
    }

    private enum State {
        /// This many responses so far, all unchanged.
        case unchanged(Int)
        case recorded
    }

    private var states: [Group: State] = [:]

    /// The maximum number of groups. Requests beyond this limit are recorded again, which is always correct.
    static let limit = 1 << 20

    /// - Returns: whether the existing recording of the unchanged response is sufficient.
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
