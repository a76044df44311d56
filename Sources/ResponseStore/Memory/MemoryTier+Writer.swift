import EventLoop
import HTTPCaching
import Synchronization

/// The operations of the memory tier for the store's writer: reports about the disk, and eviction.
extension MemoryTier {
    // MARK: What the writer reports

    /// Notes that a queued change to the key has been written or abandoned.
    func settle(_ hash: KeyHash) { shards[shard(hash)].withLock { $0.removeWaiting(hash.low) } }

    /// Whether a change to the key is waiting to be written.
    func isWaiting(_ hash: KeyHash) -> Bool { shards[shard(hash)].withLock { $0.isWaiting(hash.low) } }

    /// Notes that a live row was deleted from the disk.
    func rowIsGone(_ hash: KeyHash) { shards[shard(hash)].withLock { $0.keys.remove(hash.high) } }

    /// Removes the response of an evicted or damaged row from memory too.
    func drop(row: StoredRowID, _ hash: KeyHash) {
        let now = now
        var dropped: [StoredVariants?] = []
        shards[shard(hash)].withLock { shard in
            shard.changes &+= 1
            guard let variants = shard.table.variants(withHash: hash.low, holdingRow: row) else { return }
            dropped = replace(variants, by: variants.responses.filter { $0.row != row }, hash, now: now, in: &shard)
            dropped.append(variants)
        }
        withExtendedLifetime(dropped) {}
    }

    /// Keeps only a reference to a body that has been written and is too long for memory.
    func leaveToDisk(row: StoredRowID, _ hash: KeyHash, _ holds: BodyHolds) {
        let now = now
        var dropped: [StoredVariants?] = []
        shards[shard(hash)].withLock { shard in
            guard let variants = shard.table.variants(withHash: hash.low, holdingRow: row) else { return }
            let responses = variants.responses.map { response in
                if response.row != row || response.isOnDisk { return response }
                let body = holds.held(BodyReference(id: row, length: response.body.length))
                return response.placed(body: .onDisk(body), row: row)
            }
            dropped = replace(variants, by: responses, hash, now: now, in: &shard)
            dropped.append(variants)
        }
        withExtendedLifetime(dropped) {}
    }

    /// Adds the key of a live row found while the set of keys is built.
    func noteStoredKey(_ hash: KeyHash) { shards[shard(hash)].withLock { $0.keys.insert(hash.high) } }

    /// Declares the set of keys complete: from now on, a key that is not in the set is certainly not stored.
    func declareKeysComplete() { keysAreComplete.store(true, ordering: .releasing) }

    /// Notes that the file was replaced by an empty one: bodies in the old file are lost. The keys stay, since some of them wait to be
    /// written.
    func forgetDisk() {
        for index in 0..<MemoryTier.shardCount {
            var dropped: [StoredVariants] = []
            shards[index].withLock { shard in
                shard.changes &+= 1
                shard.table.forEach(from: 0, count: shard.table.capacity) { variants in
                    if variants.responses.contains(where: \.isOnDisk) { dropped.append(variants) }
                }
                for variants in dropped {
                    _ = removeFromTable(hasher.hash(variants.key), variants.key, in: &shard)
                }
            }
            withExtendedLifetime(dropped) {}
        }
    }

    // MARK: Eviction and access stamps, on the writer's thread

    /// Moves the clock hand until the low mark is reached.
    /// - Parameter hand: the position, kept by the writer.
    func evict(hand: inout ClockHand) -> Int {
        var evictedCount = 0
        // Two rounds of the clock hand find every unused entry; more rounds are needed only if all entries are in use.
        var rounds = 0
        while byteCount > marks.low, rounds < 4 * MemoryTier.shardCount {
            var evicted: [StoredVariants] = []
            shards[hand.shard].withLock { shard in
                let (bytes, count) = (shard.table.byteCount, shard.table.count)
                shard.table.sweep(from: hand.place, count: ClockHand.stride, into: &evicted)
                totalBytes.subtract(bytes - shard.table.byteCount, ordering: .relaxed)
                totalEntries.subtract(count - shard.table.count, ordering: .relaxed)
                hand.place += ClockHand.stride
                if hand.place >= shard.table.capacity {
                    hand.place = 0
                    hand.shard = (hand.shard + 1) % MemoryTier.shardCount
                    rounds += 1
                }
            }
            evictedCount += evicted.count
        }
        return evictedCount
    }

    /// Collects rows that were used in memory since the file last recorded their use.
    func collectAccesses(olderThan interval: UInt32, into rows: inout [StoredRowID]) {
        let now = now
        for index in 0..<MemoryTier.shardCount {
            var place = 0
            var isAtEnd = false
            while !isAtEnd {
                shards[index].withLock { shard in
                    shard.table.forEach(from: place, count: ClockHand.stride) { variants in
                        let stamp = variants.accessStamp.load(ordering: .relaxed)
                        let recorded = variants.recordedAccess.load(ordering: .relaxed)
                        guard stamp & 1 == 1, stamp >> 1 >= recorded &+ interval else { return }
                        variants.recordedAccess.store(now, ordering: .relaxed)
                        for response in variants.responses where response.row != 0 { rows.append(response.row) }
                    }
                    place += ClockHand.stride
                    isAtEnd = place >= shard.table.capacity
                }
            }
        }
    }
}

/// The position of the clock hand.
struct ClockHand {
    /// How many slots the hand passes each time the lock of a shard is taken.
    static let stride = 64
    var shard = 0
    var place = 0
}
