import ServerTrust

/// What a refresh has found of the answers to each request. Those of a later generation take the place of all before: so where one of them is
/// recorded anew the others are too, those before it from what was recorded and was the same. Confined to its recorder's thread.
struct RefreshedAnswers {
    /// Requests that one recording has answered, and that have the same secrets now.
    struct Group: Hashable {
        let recorded: SHA256Digest
        let secrets: SHA256Digest
    }

    private enum State {
        /// So often, one behind the other.
        case unchanged(Int)
        case recorded
    }

    private var states: [Group: State] = [:]

    /// More are not told apart: they are recorded anew, which is never wrong.
    static let limit = 1 << 20

    /// - Returns: whether what is unchanged may stay as it was recorded.
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

    /// - Returns: how many answers before this one were unchanged, and are to be recorded with it.
    mutating func beginRecording(_ group: Group) -> Int {
        let state = states[group]
        if state != nil || states.count < Self.limit { states[group] = .recorded }
        return if case .unchanged(let count)? = state { count } else { 0 }
    }
}
