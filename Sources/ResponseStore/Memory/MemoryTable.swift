import CLarderLinux

/// One shard's part of the memory tier. Uses open addressing by hash, and compares full keys.
struct MemoryTable: Sendable {
    /// The array's elements are not optional: accessing a field of an optional element would copy the whole element.
    private struct Place {
        var hash: UInt64 = 0
        /// The access stamp that the clock hand saw last.
        var seen: UInt32 = 0
        /// The responses in the slot; `nil` if the slot is free.
        var variants: StoredVariants?
        var prefetchHint = PrefetchHint()
    }

    private var places: [Place] = []
    private(set) var count = 0
    private(set) var byteCount = 0

    /// The size in bytes of the table itself, without the responses.
    var ownByteCount: Int { places.capacity * MemoryLayout<Place>.stride }

    /// The number of slots that the clock hand passes in one round.
    var capacity: Int { places.count }

    func find(_ hash: UInt64, _ key: Span<UInt8>) -> StoredVariants? {
        guard let index = index(of: hash, key) else { return nil }
        return places[index].variants
    }

    func find(_ hash: UInt64, _ key: [UInt8]) -> StoredVariants? { find(hash, key.span) }

    /// Inserts the variants, or replaces the variants of the same key.
    /// - Returns: the replaced variants, to be released outside the lock.
    mutating func insert(_ variants: StoredVariants, hash: UInt64) -> StoredVariants? {
        let new = Place(
            hash: hash, seen: variants.accessStamp.load(ordering: .relaxed), variants: variants,
            prefetchHint: PrefetchHint(of: variants))
        byteCount += variants.byteCount
        let key = variants.key
        if let index = index(of: hash, key.span) {
            let old = places[index].variants
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

    /// Finds the variants that contain the response in this row, when only the hash of the key is known.
    mutating func variants(withHash hash: UInt64, holdingRow row: Int64) -> StoredVariants? {
        if count == 0 { return nil }
        var index = home(of: hash)
        while let variants = places[index].variants {
            if places[index].hash == hash, variants.response(inRow: row) != nil { return variants }
            index = (index + 1) & (places.count - 1)
        }
        return nil
    }

    /// Advances the clock hand by some slots: entries that were not used since its last pass are evicted.
    mutating func sweep(from start: Int, count steps: Int, into evicted: inout [StoredVariants]) {
        var index = start
        let end = min(start + steps, places.count)
        while index < end {
            if let variants = places[index].variants {
                let stamp = variants.accessStamp.load(ordering: .relaxed)
                if stamp != places[index].seen {
                    places[index].seen = stamp
                } else if let variants = removePlace(index) {
                    evicted.append(variants)
                    // Another entry may have moved into the gap.
                    continue
                }
            }
            index += 1
        }
    }

    func forEach(from start: Int, count steps: Int, _ body: (StoredVariants) -> Void) {
        for index in start..<max(start, min(start + steps, places.count)) {
            if let variants = places[index].variants { body(variants) }
        }
    }

    private func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 6) & (places.count - 1) }

    private func isFree(_ index: Int) -> Bool { places[index].variants == nil }

    private func index(of hash: UInt64, _ key: Span<UInt8>) -> Int? {
        if count == 0 { return nil }
        let mask = places.count - 1
        var index = home(of: hash)
        while !isFree(index) {
            if places[index].hash == hash {
                places[index].prefetchHint.fetch()
                if places[index].variants?.key.isEqual(to: key) == true { return index }
            }
            index = (index + 1) & mask
        }
        return nil
    }

    private mutating func place(_ new: Place) {
        var index = home(of: new.hash)
        while !isFree(index) { index = (index + 1) & (places.count - 1) }
        places[index] = new
    }

    private mutating func removePlace(_ index: Int) -> StoredVariants? {
        let old = places[index].variants
        count -= 1
        byteCount -= old?.byteCount ?? 0
        let mask = places.count - 1
        var gap = index
        var next = (gap + 1) & mask
        while !isFree(next) {
            let distance = (next &- home(of: places[next].hash)) & mask
            if distance >= (next &- gap) & mask {
                places[gap] = places[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        places[gap] = Place()
        return old
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: Place(), count: max(16, old.count * 2))
        for place in old where place.variants != nil { self.place(place) }
    }
}

extension [UInt8] {
    /// Uses memcmp, which is fast, because every hit compares keys.
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
