/// A multiset of numbers that represent stored keys: one copy per live row, so that adding and removing need no lookup.
///
/// Open addressing with linear probing. Zero marks an empty slot, so the number zero is stored as one.
struct KeyTable: Sendable {
    private var places: [UInt64] = []
    private(set) var count = 0

    func contains(_ key: UInt64) -> Bool {
        if count == 0 { return false }
        let key = max(key, 1)
        var index = home(of: key)
        while places[index] != 0 {
            if places[index] == key { return true }
            index = (index + 1) & (places.count - 1)
        }
        return false
    }

    mutating func insert(_ key: UInt64) {
        if (count + 1) * 4 > places.count * 3 { resize(to: max(16, places.count * 2)) }
        place(max(key, 1))
        count += 1
    }

    /// The allocated size in bytes.
    var byteCount: Int { places.capacity * MemoryLayout<UInt64>.stride }

    /// Removes one copy, if there is one.
    mutating func remove(_ key: UInt64) {
        if count == 0 { return }
        let key = max(key, 1)
        var index = home(of: key)
        while places[index] != key {
            if places[index] == 0 { return }
            index = (index + 1) & (places.count - 1)
        }
        close(index)
        count -= 1
        if places.count > KeyTable.leastKept, count * 8 < places.count { resize(to: places.count / 2) }
    }

    private static let leastKept = 1024

    mutating func removeAll() {
        places = []
        count = 0
    }

    /// All bits of the hash are equally random, so its low bits can select the slot. The shard was selected by the other
    /// half of the key's hash.
    private func home(of key: UInt64) -> Int { Int(truncatingIfNeeded: key) & (places.count - 1) }

    private mutating func place(_ key: UInt64) {
        var index = home(of: key)
        while places[index] != 0 { index = (index + 1) & (places.count - 1) }
        places[index] = key
    }

    /// Closes the gap: later entries are moved back into it if their hashes allow that position.
    private mutating func close(_ gap: Int) {
        let mask = places.count - 1
        var gap = gap
        var index = (gap + 1) & mask
        while places[index] != 0 {
            let distance = (index &- home(of: places[index])) & mask
            if distance >= (index &- gap) & mask {
                places[gap] = places[index]
                gap = index
            }
            index = (index + 1) & mask
        }
        places[gap] = 0
    }

    private mutating func resize(to capacity: Int) {
        let old = places
        places = Array(repeating: 0, count: capacity)
        for key in old where key != 0 { place(key) }
    }
}
