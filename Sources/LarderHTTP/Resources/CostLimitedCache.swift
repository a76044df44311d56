import EventLoop

/// Values in memory, up to a total cost. The least recently used values are evicted first.
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

    /// The total cost above which values are evicted.
    public let capacity: UInt64
    /// Eviction stops when the total cost is at most this value.
    public let preferredAfterPurge: UInt64
    private let state = Guarded(State())

    /// - Parameters:
    ///   - capacity: the total cost above which values are evicted.
    ///   - preferredAfterPurge: eviction stops when the total cost is at most this value.
    public init(capacity: UInt64 = 100 << 20, preferredAfterPurge: UInt64 = 60 << 20) {
        precondition(preferredAfterPurge <= capacity, "a purge makes room")
        self.capacity = capacity
        self.preferredAfterPurge = preferredAfterPurge
    }

    /// The total cost of the stored values.
    public var cost: UInt64 { state.withLock { $0.cost } }
    /// How many values are stored.
    public var count: Int { state.withLock { $0.entries.count } }

    func sum(_ number: (Value) -> Int) -> Int { state.withLock { $0.entries.values.reduce(0) { $0 + number($1.value) } } }

    /// The value for a key. Reading the value marks it as used now.
    public func value(for key: Key) -> Value? {
        state.withLock { state in
            guard let entry = state.entries[key] else { return nil }
            state.uses += 1
            state.entries[key]?.lastUse = state.uses
            return entry.value
        }
    }

    /// Stores a value in place of the previous value for this key, if there is one.
    public func insert(_ value: Value, for key: Key, cost: UInt64) {
        let dropped: [Value] = state.withLock { state in
            state.uses += 1
            let former = state.entries.updateValue(Entry(value: value, cost: cost, lastUse: state.uses), forKey: key)
            state.cost = state.cost - (former?.cost ?? 0) + cost
            return [former?.value].compactMap { $0 } + purge(&state)
        }
        // The deinitializers of the dropped values may call this cache, so they run outside the lock.
        withExtendedLifetime(dropped) {}
    }

    /// Replaces the value atomically with the result of `make`. If the result is `nil`, the value is removed.
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

    /// - Returns: whether a value was removed.
    @discardableResult
    public func remove(_ key: Key) -> Bool {
        let former: Entry? = state.withLock { state in
            let former = state.entries.removeValue(forKey: key)
            state.cost -= former?.cost ?? 0
            return former
        }
        return former != nil
    }

    /// - Returns: whether any value was removed.
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
