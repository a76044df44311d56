public import ServerTrust

/// Caches the TLS contexts with which a server sends leaf certificates, by host, up to a limit.
///
/// A value type: its owner uses it on one loop only, or protects it with a lock. Look-up and insertion are separate, since a missing
/// context is made on another thread. A clock hand selects the entry to evict, which was not used since the hand last passed it.
public struct LeafCache<Context: Sendable>: Sendable {
    /// The default limit on entries; an OpenSSL context uses about 10 KiB.
    public static var usualLimit: Int { 1024 }

    private struct Slot: Sendable {
        let name: LeafName
        var context: Context
        var shownFrom: POSIXTime
        var shownUntil: POSIXTime
        var wasUsed: Bool
    }

    /// The maximum number of entries; beyond it, an entry that was not used recently is evicted.
    public let limit: Int
    private var slots: [Slot] = []
    private var places: [LeafName: Int] = [:]
    private var hand = 0

    /// - Parameter limit: at least 1.
    public init(limit: Int = usualLimit) {
        precondition(limit > 0, "a cache holds one at least")
        self.limit = limit
    }

    /// The number of entries.
    public var count: Int { slots.count }

    /// - Returns: `nil` if there is no entry, or its leaf is not valid for sending at this time.
    public mutating func context(for name: LeafName, at now: POSIXTime) -> Context? {
        guard let place = places[name], now >= slots[place].shownFrom, now <= slots[place].shownUntil else { return nil }
        slots[place].wasUsed = true
        return slots[place].context
    }

    /// Replaces the entry for this name, or evicts one that was not used recently.
    public mutating func keep(_ context: Context, of leaf: Leaf) {
        let slot = Slot(
            name: leaf.name, context: context, shownFrom: leaf.shownFrom, shownUntil: leaf.shownUntil, wasUsed: false)
        if let place = places[leaf.name] {
            slots[place] = slot
        } else if slots.count < limit {
            places[leaf.name] = slots.count
            slots.append(slot)
        } else {
            let place = freedPlace()
            places[slots[place].name] = nil
            places[leaf.name] = place
            slots[place] = slot
        }
    }

    /// Removes all entries, for a new root.
    public mutating func removeAll() {
        slots.removeAll()
        places.removeAll()
        hand = 0
    }

    private mutating func freedPlace() -> Int {
        while slots[hand].wasUsed {
            slots[hand].wasUsed = false
            hand = (hand + 1) % slots.count
        }
        defer { hand = (hand + 1) % slots.count }
        return hand
    }
}
