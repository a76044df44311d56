import EventLoop

/// Values in memory, within a sum of their costs. What was used longest ago goes first.
public final class CostLimitedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let cost: UInt64
        var lastUse: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var cost: UInt64 = 0
        var uses: UInt64 = 0
    }

    /// Once the sum of costs is above it, values go.
    public let capacity: UInt64
    /// Until the sum is no more than this.
    public let preferredAfterPurge: UInt64
    private let state = Guarded(State())

    /// - Parameters:
    ///   - capacity: once the sum is above it, values go.
    ///   - preferredAfterPurge: until the sum is no more than this.
    public init(capacity: UInt64 = 100 << 20, preferredAfterPurge: UInt64 = 60 << 20) {
        precondition(preferredAfterPurge <= capacity, "a purge makes room")
        self.capacity = capacity
        self.preferredAfterPurge = preferredAfterPurge
    }

    /// The sum of the costs of what is there.
    public var cost: UInt64 { state.withLock { $0.cost } }
    /// How many values there are.
    public var count: Int { state.withLock { $0.entries.count } }

    /// The value, which counts as used now.
    public func value(for key: Key) -> Value? {
        state.withLock { state in
            guard let entry = state.entries[key] else { return nil }
            state.uses += 1
            state.entries[key]?.lastUse = state.uses
            return entry.value
        }
    }

    /// Takes the place of what has the key.
    public func insert(_ value: Value, for key: Key, cost: UInt64) {
        let dropped: [Value] = state.withLock { state in
            state.uses += 1
            let former = state.entries.updateValue(Entry(value: value, cost: cost, lastUse: state.uses), forKey: key)
            state.cost = state.cost - (former?.cost ?? 0) + cost
            return [former?.value].compactMap { $0 } + purge(&state)
        }
        // Their ends may come back here.
        withExtendedLifetime(dropped) {}
    }

    /// Makes the value anew out of the one that is there, in one step; `nil` for none.
    func update(_ key: Key, _ make: @Sendable (Value?) -> (value: Value, cost: UInt64)?) {
        let dropped: [Value] = state.withLock { state in
            state.uses += 1
            let former = state.entries[key]
            let new = make(former?.value)
            state.entries[key] = new.map { Entry(value: $0.value, cost: $0.cost, lastUse: state.uses) }
            state.cost = state.cost - (former?.cost ?? 0) + (new?.cost ?? 0)
            return [former?.value].compactMap { $0 } + purge(&state)
        }
        withExtendedLifetime(dropped) {}
    }

    private func purge(_ state: inout State) -> [Value] {
        guard state.cost > capacity else { return [] }
        var dropped: [Value] = []
        for (key, entry) in state.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse })
        where state.cost > preferredAfterPurge {
            state.entries[key] = nil
            state.cost -= entry.cost
            dropped.append(entry.value)
        }
        return dropped
    }

    /// - Returns: whether there was something.
    @discardableResult
    public func remove(_ key: Key) -> Bool {
        let former: Entry? = state.withLock { state in
            let former = state.entries.removeValue(forKey: key)
            state.cost -= former?.cost ?? 0
            return former
        }
        return former != nil
    }

    /// - Returns: whether there was something.
    @discardableResult
    public func removeAll() -> Bool {
        let former: [Key: Entry] = state.withLock { state in
            defer {
                state.entries = [:]
                state.cost = 0
            }
            return state.entries
        }
        return !former.isEmpty
    }
}
