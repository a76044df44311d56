public import ServerTrust

/// What was made of leaves (the contexts by which a server shows them), by host, at most so many.
///
/// A value: its owner is one loop, or holds it behind a lock. Looking up and keeping are apart, since what is not there is made on
/// another thread meanwhile. Which one goes for a new one is decided by a clock hand: one that was not used since the hand passed.
public struct LeafCache<Context: Sendable>: Sendable {
    /// A context of OpenSSL's takes some 10 KiB.
    public static var usualLimit: Int { 1024 }

    private struct Slot: Sendable {
        let name: LeafName
        var context: Context
        var shownFrom: POSIXTime
        var shownUntil: POSIXTime
        var wasUsed: Bool
    }

    /// How many there may be; the one used longest ago goes.
    public let limit: Int
    private var slots: [Slot] = []
    private var places: [LeafName: Int] = [:]
    private var hand = 0

    /// - Parameter limit: at least 1.
    public init(limit: Int = usualLimit) {
        precondition(limit > 0, "a cache holds one at least")
        self.limit = limit
    }

    /// How many there are.
    public var count: Int { slots.count }

    /// - Returns: `nil` where there is none, or its leaf is not shown at this time.
    public mutating func context(for name: LeafName, at now: POSIXTime) -> Context? {
        guard let place = places[name], now >= slots[place].shownFrom, now <= slots[place].shownUntil else { return nil }
        slots[place].wasUsed = true
        return slots[place].context
    }

    /// Takes the place of the last one of this name, else that of one that was not used lately.
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

    /// For a new root, of which none of these are.
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
