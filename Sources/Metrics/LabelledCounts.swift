/// Counts for combinations of labels, each packed into a number. The table has a fixed size: counting allocates nothing.
///
/// Peers choose some labels, so their combinations are limited. Combinations beyond the limit are counted together.
package struct LabelledCounts: ~Copyable {
    private struct Slot {
        var key: UInt32 = 0
        var count: UInt64 = 0
    }

    /// The maximum number of combinations that are counted separately. The table has twice as many slots, so that searches are
    /// short.
    package static let limit = 256
    private static let mask = 2 * limit - 1

    private var slots = [Slot](repeating: Slot(), count: 2 * limit)
    private var usedCount = 0
    /// The slot of the latest combination: the next is often the same.
    private var latest = 0
    private var others: UInt64 = 0

    package init() {}

    /// - Parameter key: not 0.
    package mutating func add(_ key: UInt32) {
        if slots[latest].key != key {
            guard let slot = slot(of: key) else {
                others &+= 1
                return
            }
            latest = slot
        }
        slots[latest].count &+= 1
    }

    private mutating func slot(of key: UInt32) -> Int? {
        var index = Int((key &* 0x9E37_79B1) >> 16) & Self.mask
        while slots[index].key != key {
            if slots[index].key == 0 {
                if usedCount == Self.limit { return nil }
                usedCount += 1
                slots[index].key = key
                return index
            }
            index = (index + 1) & Self.mask
        }
        return index
    }

    /// The count of each combination. The key 0 has the count of all combinations beyond the limit.
    package var counts: [UInt32: UInt64] {
        var result: [UInt32: UInt64] = others > 0 ? [0: others] : [:]
        for slot in slots where slot.key != 0 { result[slot.key] = slot.count }
        return result
    }
}
