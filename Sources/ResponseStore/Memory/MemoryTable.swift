import CLinux

/// The memory tier's part in one shard: open addressing by hash, full keys compared.
struct MemoryTable: Sendable {
    private struct Place {
        var hash: UInt64
        /// The access stamp that the clock's hand saw last.
        var seen: UInt32
        var variants: StoredVariants
        let whereabouts: Whereabouts
    }

    private var places: [Place?] = []
    private(set) var count = 0
    private(set) var byteCount = 0

    /// How many places the clock's hand passes in a whole round.
    var capacity: Int { places.count }

    func find(_ hash: UInt64, _ key: Span<UInt8>) -> StoredVariants? {
        guard let index = index(of: hash, key) else { return nil }
        return places[index]?.variants
    }

    func find(_ hash: UInt64, _ key: [UInt8]) -> StoredVariants? { find(hash, key.span) }

    /// Puts the variants in, or in place of those with the same key.
    /// - Returns: Those that were there, to be let go outside the lock.
    mutating func insert(_ variants: StoredVariants, hash: UInt64) -> StoredVariants? {
        let new = Place(
            hash: hash, seen: variants.accessStamp.load(ordering: .relaxed), variants: variants,
            whereabouts: Whereabouts(of: variants))
        byteCount += variants.byteCount
        let key = variants.key
        if let index = index(of: hash, key.span) {
            let old = places[index]?.variants
            byteCount -= old?.byteCount ?? 0
            places[index] = new
            return old
        }
        if (count + 1) * 4 > places.count * 3 { grow() }
        place(new)
        count += 1
        return nil
    }

    mutating func remove(_ hash: UInt64, _ key: [UInt8]) -> StoredVariants? {
        guard let index = index(of: hash, key.span) else { return nil }
        return removePlace(index)
    }

    /// Takes out the response in this row, wherever its key is not known. The hash must be the key's.
    mutating func variants(withHash hash: UInt64, holdingRow row: Int64) -> StoredVariants? {
        if count == 0 { return nil }
        var index = home(of: hash)
        while let place = places[index] {
            if place.hash == hash, place.variants.response(inRow: row) != nil { return place.variants }
            index = (index + 1) & (places.count - 1)
        }
        return nil
    }

    /// The clock's hand passes some places: what was not found since it last came by goes.
    mutating func sweep(from start: Int, count steps: Int, into evicted: inout [StoredVariants]) {
        var index = start
        let end = min(start + steps, places.count)
        while index < end {
            if let place = places[index] {
                let stamp = place.variants.accessStamp.load(ordering: .relaxed)
                if stamp != place.seen {
                    places[index]?.seen = stamp
                } else if let variants = removePlace(index) {
                    evicted.append(variants)
                    // Another may have moved into the gap.
                    continue
                }
            }
            index += 1
        }
    }

    func forEach(from start: Int, count steps: Int, _ body: (StoredVariants) -> Void) {
        for index in start..<max(start, min(start + steps, places.count)) {
            if let place = places[index] { body(place.variants) }
        }
    }

    private func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 6) & (places.count - 1) }

    private func index(of hash: UInt64, _ key: Span<UInt8>) -> Int? {
        if count == 0 { return nil }
        let mask = places.count - 1
        var index = home(of: hash)
        while true {
            switch places[index] {
            case .none: return nil
            case .some(let place):
                if place.hash == hash {
                    place.whereabouts.fetch()
                    if place.variants.key.isEqual(to: key) { return index }
                }
            }
            index = (index + 1) & mask
        }
    }

    private mutating func place(_ new: Place) {
        var index = home(of: new.hash)
        while places[index] != nil { index = (index + 1) & (places.count - 1) }
        places[index] = new
    }

    private mutating func removePlace(_ index: Int) -> StoredVariants? {
        let old = places[index]?.variants
        count -= 1
        byteCount -= old?.byteCount ?? 0
        let mask = places.count - 1
        var gap = index
        var next = (gap + 1) & mask
        while let place = places[next] {
            let distance = (next &- home(of: place.hash)) & mask
            if distance >= (next &- gap) & mask {
                places[gap] = place
                gap = next
            }
            next = (next + 1) & mask
        }
        places[gap] = nil
        return old
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: nil, count: max(16, old.count * 2))
        for case .some(let place) in old { self.place(place) }
    }
}

extension [UInt8] {
    /// Byte by byte through memcmp: keys are compared on the way of every hit.
    @inline(__always)
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBufferPointer { left in
            other.withUnsafeBufferPointer { right in
                left.isEmpty || memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
            }
        }
    }
}
