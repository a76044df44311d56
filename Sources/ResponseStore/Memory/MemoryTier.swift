import EventLoop
import HTTPCaching
import Synchronization

/// The responses in memory, and what is known of the disk without asking it. Shared by all loops and the store's threads.
///
/// 64 shards, each behind a lock that is held for a probe and a retain. A change is queued for the writer while its shard is locked,
/// so that two changes to one key reach the disk in the order in which memory saw them.
final class MemoryTier: Sendable {
    static let shardCount = 64

    let hasher: KeyHasher
    let marks: StoreConfiguration.Marks
    /// Whether there is a disk below that takes what is new.
    let hasDisk: Bool
    /// What is read behind, and never written.
    let backingStore: ReadOnlyBackingStore?
    let purges: PurgeMarks
    let unstored: UnstoredCounts
    let shards: InlineArray<64, Guarded<MemoryShard>>
    let totalBytes = Atomic<Int>(0)
    let totalEntries = Atomic<Int>(0)
    /// Seconds since the store was opened, advanced by the writer.
    private let second = Atomic<UInt32>(0)
    let keysAreComplete = Atomic<Bool>(false)

    init(
        hasher: KeyHasher, marks: StoreConfiguration.Marks, hasDisk: Bool, backingStore: ReadOnlyBackingStore? = nil,
        purges: PurgeMarks,
        unstored: UnstoredCounts
    ) {
        self.hasher = hasher
        self.marks = marks
        self.hasDisk = hasDisk
        self.backingStore = backingStore
        self.purges = purges
        self.unstored = unstored
        shards = InlineArray { _ in Guarded(MemoryShard()) }
    }

    var byteCount: Int { totalBytes.load(ordering: .relaxed) }
    var entryCount: Int { totalEntries.load(ordering: .relaxed) }

    /// What finds responses in memory and says which keys the disk has, whether these are in memory or not.
    var indexByteCount: Int {
        (0..<MemoryTier.shardCount).reduce(0) { sum, index in
            sum + shards[index].withLock { $0.table.ownByteCount + $0.keys.byteCount + $0.hidden.byteCount }
        }
    }

    var now: UInt32 { second.load(ordering: .relaxed) }

    func advance(to second: UInt32) { self.second.store(second, ordering: .relaxed) }

    // MARK: Finding

    /// The hot path: no allocation, one lock held for a probe.
    func find(_ key: Span<UInt8>) -> MemoryAnswer {
        let hash = hasher.hash(key)
        let knowsKeys = !hasDisk || keysAreComplete.load(ordering: .acquiring)
        let now = now
        return shards[shard(hash)].withLock { shard in
            if let variants = shard.table.find(hash.low, key) {
                if let backingStore, variants.responses.contains(where: \.isOnDisk) {
                    return backingStore.isUsed ? .unknown : .absent
                }
                variants.noteAccess(now: now)
                return .found(variants)
            }
            if let backingStore { return backingStore.isUsed && !shard.hidden.contains(hash.high) ? .unknown : .absent }
            return knowsKeys && !shard.keys.contains(hash.high) ? .absent : .unknown
        }
    }

    // MARK: Looking up on the disk

    enum LookUpStart {
        /// Read now, and show this number at the end.
        case ready(UInt64)
        /// A change to the key has yet to be written: look when it is.
        case waiting
    }

    func beginLookUp(_ hash: KeyHash) -> LookUpStart {
        shards[shard(hash)].withLock { $0.isWaiting(hash.low) ? .waiting : .ready($0.changes) }
    }

    /// Takes in what the disk had for a key, complete.
    /// - Returns: `nil` when something changed since `beginLookUp`: what was read may be wrong by now.
    func endLookUp(
        _ key: [UInt8], _ hash: KeyHash, startedAt changes: UInt64, found: StoredVariants?
    ) -> MemoryAnswer? {
        let room = marks.high + marks.high / 4
        let now = now
        var dropped: StoredVariants?
        let answer: MemoryAnswer? = shards[shard(hash)].withLock { shard in
            guard shard.changes == changes, !shard.isWaiting(hash.low) else { return nil }
            if shard.hidden.contains(hash.high) {
                return leftAboveFile(key, hash, beside: found, now: now, in: &shard)
            }
            guard let found else { return .absent }
            // Another process may take a body from its file at any time: who asks again is shown what is there then.
            if backingStore != nil, found.responses.contains(where: \.isOnDisk) { return .found(found) }
            if byteCount + found.byteCount <= room { dropped = insert(found, hash, into: &shard) }
            return .found(found)
        }
        withExtendedLifetime(dropped) {}
        return answer
    }

    // MARK: Changing

    /// Now, for a key.
    func moment(_ hash: KeyHash) -> StoreEpoch {
        StoreEpoch(purge: purges.latest, invalidation: shards[shard(hash)].withLock { $0.invalidations(hash.low) })
    }

    func wasInvalidated(_ hash: KeyHash, since: StoreEpoch) -> Bool {
        shards[shard(hash)].withLock { $0.invalidations(hash.low) } != since.invalidation
    }

    /// Puts a response in and queues it for the disk.
    /// - Parameter enqueue: Called under the shard's lock with what purges have left of it.
    /// - Returns: `accepted` where the queue took it, or a newer one stands in its place; else nothing has changed.
    func put(
        _ response: StoredResponse, _ hash: KeyHash, since: StoreEpoch, enqueue: (StoredResponse) -> Bool
    ) -> PutOutcome {
        let knowsKeys = keysAreComplete.load(ordering: .acquiring)
        let now = now
        var dropped: [StoredVariants?] = []
        let result = shards[shard(hash)].withLock { shard -> PutOutcome in
            guard let response = left(of: response, hash, since: since, in: shard) else { return .invalidated }
            if isSuperseded(response, hash, in: &shard) { return .accepted(response) }
            let mayHaveOthers = hasDisk && (!knowsKeys || shard.keys.contains(hash.high))
            guard enqueue(response) else { return .busy }
            noteChange(hash, in: &shard)
            if hasDisk { shard.keys.insert(hash.high) }
            dropped = keep(response, hash, mayHaveOthers: mayHaveOthers, now: now, in: &shard)
            return .accepted(response)
        }
        withExtendedLifetime(dropped) {}
        return result
    }

    /// A key that is about to be written, for a response that memory does not have yet.
    func expect(_ hash: KeyHash) { shards[shard(hash)].withLock { $0.keys.insert(hash.high) } }

    /// A large response is complete on the disk, and its head may stand in memory; or no disk has it.
    /// - Parameter displace: For one that no disk has: called under the lock with what purges have left of it, only where the disk may have
    ///   something for the key.
    /// - Returns: What purges and invalidations have left of it: `nil` for nothing.
    @discardableResult
    func promote(
        _ response: StoredResponse, _ hash: KeyHash, since: StoreEpoch, displace: ((StoredResponse) -> Void)? = nil
    ) -> StoredResponse? {
        let mayKnowNothing = hasDisk && !keysAreComplete.load(ordering: .acquiring)
        let now = now
        var dropped: [StoredVariants?] = []
        let kept = shards[shard(hash)].withLock { shard -> StoredResponse? in
            shard.changes &+= 1
            guard let response = left(of: response, hash, since: since, in: shard) else { return nil }
            if isSuperseded(response, hash, in: &shard) { return response }
            if let displace {
                if mayKnowNothing || shard.keys.contains(hash.high) {
                    noteChange(hash, in: &shard)
                    displace(response)
                }
            } else if shard.isWaiting(hash.low) {
                // A change that came meanwhile has yet to be written, perhaps one that invalidates: the disk knows then.
                return response
            }
            dropped = keep(response, hash, mayHaveOthers: hasDisk, now: now, in: &shard)
            return response
        }
        withExtendedLifetime(dropped) {}
        return kept
    }

    /// Replaces a response by its freshened self and queues that for the disk (RFC 9111 §4.3.4).
    func freshen(
        _ old: StoredResponse, as new: StoredResponse, _ hash: KeyHash, since: StoreEpoch, enqueue: (StoredResponse) -> Void
    ) {
        if backingStore != nil, keepAboveFile(old, as: new, hash, since: since) { return }
        change(hash, key: new.key) { variants in
            // What it would freshen is purged too.
            guard let new = purges.left(of: new, since: since.purge) else { return nil }
            if hasDisk { enqueue(new) }
            let isSameVariant = new.nominatedFields == old.nominatedFields
            let others = variants.filter { !MemoryTier.isSame($0, old) }
            if others.count == variants.count { return variants }
            // A 304 may bring another Vary: what has been that variant until now goes.
            return (isSameVariant ? others : others.filter { !new.replaces($0) }).inserting(new)
        }
    }

    func remove(_ response: StoredResponse, _ hash: KeyHash, enqueue: () -> Void) {
        change(hash, key: response.key) { variants in
            if hasDisk { enqueue() }
            return variants.filter { !MemoryTier.isSame($0, response) }
        }
    }

    /// Takes out what a purge covers, or makes it stale. What comes later sees the purge's mark.
    /// - Returns: How many responses that are on no disk it was.
    func purge(_ purge: Purge) -> Int {
        var count = 0
        if case .keys(let keys) = purge.target {
            for key in keys {
                let hash = hasher.hash(key)
                shards[shard(hash)].withLock { shard in
                    shard.changes &+= 1
                    hideFile(hash, in: &shard)
                }
                count += self.purge(purge, key, hash)
            }
            return count
        }
        // It may mean anything that stands there.
        backingStore?.leave(because: "a purge may cover responses in it")
        for index in 0..<MemoryTier.shardCount {
            // Judged outside the lock, since there may be thousands.
            let all = shards[index].withLock { shard in
                // A look-up on the disk that began before looks again.
                shard.changes &+= 1
                var all: [StoredVariants] = []
                all.reserveCapacity(shard.table.count)
                shard.table.forEach(from: 0, count: shard.table.capacity) { all.append($0) }
                return all
            }
            for variants in all where variants.responses.contains(where: { purge.left(of: $0) !== $0 }) {
                count += self.purge(purge, variants.key, hasher.hash(variants.key))
            }
        }
        return count
    }

    private func purge(_ purge: Purge, _ key: [UInt8], _ hash: KeyHash) -> Int {
        let now = now
        var dropped: [StoredVariants?] = []
        let count = shards[shard(hash)].withLock { shard in
            guard let variants = shard.table.find(hash.low, key) else { return 0 }
            let covered = variants.responses.filter { purge.left(of: $0) !== $0 }
            dropped = replace(variants, by: variants.responses.compactMap(purge.left), hash, now: now, in: &shard)
            dropped.append(variants)
            return covered.count { !hasDisk || $0.facts.isMemoryOnly }
        }
        withExtendedLifetime(dropped) {}
        return count
    }

    /// A shard's responses that no file has.
    func responsesInMemoryAlone(shard index: Int) -> [StoredResponse] {
        shards[index].withLock { shard in
            var found: [StoredResponse] = []
            shard.table.forEach(from: 0, count: shard.table.capacity) { variants in
                found += variants.responses.filter { !hasDisk || $0.facts.isMemoryOnly }
            }
            return found
        }
    }

    /// What the fetches that have begun bring for the key is not stored from now on.
    func countInvalidation(_ hash: KeyHash) { shards[shard(hash)].withLock { $0.countInvalidation(hash.low) } }

    /// Forgets every response of a key (RFC 9111 §4.4).
    /// - Parameters:
    ///   - isBeingWritten: A body of the key was on its way: its row may be about to be committed, and nothing knows of it yet.
    ///   - enqueue: Called under the lock, only where the disk may have something for the key.
    func invalidate(_ key: [UInt8], _ hash: KeyHash, isBeingWritten: Bool, enqueue: () -> Void) {
        let isUnknown = hasDisk && (isBeingWritten || !keysAreComplete.load(ordering: .acquiring))
        var dropped: StoredVariants?
        shards[shard(hash)].withLock { shard in
            dropped = removeFromTable(hash, key, in: &shard)
            hideFile(hash, in: &shard)
            if isUnknown || shard.keys.contains(hash.high) {
                noteChange(hash, in: &shard)
                enqueue()
            } else {
                shard.changes &+= 1
            }
        }
        withExtendedLifetime(dropped) {}
    }

    // MARK: Under the lock

    func shard(_ hash: KeyHash) -> Int { Int(truncatingIfNeeded: hash.low) & (MemoryTier.shardCount - 1) }

    /// What purges and invalidations since then have left of a response: `nil` for nothing.
    func left(
        of response: StoredResponse, _ hash: KeyHash, since: StoreEpoch, in shard: borrowing MemoryShard
    ) -> StoredResponse? {
        guard shard.invalidations(hash.low) == since.invalidation else { return nil }
        return purges.left(of: response, since: since.purge)
    }

    /// What a file behind has for the key may be out of date from now on.
    private func hideFile(_ hash: KeyHash, in shard: inout MemoryShard) {
        guard let backingStore, !shard.hide(hash.high, limit: backingStore.hiddenKeysOfShard) else { return }
        backingStore.leave(because: "too many of its responses have been fetched again or changed since")
    }

    private func noteChange(_ hash: KeyHash, in shard: inout MemoryShard) {
        shard.changes &+= 1
        if hasDisk { shard.addWaiting(hash.low) }
    }

    /// - Parameter transform: Called under the lock with what memory has; queues the change for the disk. `nil`: nothing changes.
    private func change(_ hash: KeyHash, key: [UInt8], _ transform: ([StoredResponse]) -> [StoredResponse]?) {
        let now = now
        var dropped: [StoredVariants?] = []
        shards[shard(hash)].withLock { shard in
            let old = shard.table.find(hash.low, key)
            guard let responses = transform(old?.responses ?? []) else { return }
            noteChange(hash, in: &shard)
            hideFile(hash, in: &shard)
            guard let old else { return }
            dropped = replace(old, by: responses, hash, now: now, in: &shard)
            dropped.append(old)
        }
        withExtendedLifetime(dropped) {}
    }

    func replace(
        _ old: StoredVariants, by responses: [StoredResponse], _ hash: KeyHash, now: UInt32, in shard: inout MemoryShard
    ) -> [StoredVariants?] {
        if responses.isEmpty { return [removeFromTable(hash, old.key, in: &shard)] }
        let recorded = old.recordedAccess.load(ordering: .relaxed)
        let new = StoredVariants(
            key: old.key, responses: responses, isComplete: old.isComplete, now: now, recordedAccess: recorded)
        return [insert(new, hash, into: &shard)]
    }

    static func isSame(_ one: StoredResponse, _ other: StoredResponse) -> Bool {
        one === other || (one.row != 0 && one.row == other.row)
    }

    /// Whether something newer would have to make way for it.
    func isSuperseded(_ response: StoredResponse, _ hash: KeyHash, in shard: inout MemoryShard) -> Bool {
        guard let stored = shard.table.find(hash.low, response.key) else { return false }
        return stored.responses.contains { response.replaces($0) && $0.supersedes(response) }
    }

    /// Puts a new response among those that stay beside it.
    func keep(
        _ response: StoredResponse, _ hash: KeyHash, mayHaveOthers: Bool, now: UInt32, in shard: inout MemoryShard
    ) -> [StoredVariants?] {
        let old = shard.table.find(hash.low, response.key)
        hideFile(hash, in: &shard)
        let others = old?.responses.filter { !response.replaces($0) } ?? []
        let responses = Array(others.prefix(max(1, response.variantLimit) - 1)).inserting(response)
        let isComplete = old?.isComplete ?? !mayHaveOthers
        let new = StoredVariants(key: response.key, responses: responses, isComplete: isComplete, now: now, recordedAccess: now)
        let room = marks.high + marks.high / 4
        if byteCount + new.byteCount - (old?.byteCount ?? 0) > room {
            // The writer is behind with evicting: the disk alone keeps it, or nothing does.
            if !hasDisk || response.facts.isMemoryOnly { unstored.note(.memoryFull) }
            return [removeFromTable(hash, response.key, in: &shard), old]
        }
        return [insert(new, hash, into: &shard), old]
    }

    private func insert(_ variants: StoredVariants, _ hash: KeyHash, into shard: inout MemoryShard) -> StoredVariants? {
        let old = shard.table.insert(variants, hash: hash.low)
        totalBytes.add(variants.byteCount - (old?.byteCount ?? 0), ordering: .relaxed)
        if old == nil { totalEntries.add(1, ordering: .relaxed) }
        return old
    }

    func removeFromTable(_ hash: KeyHash, _ key: [UInt8], in shard: inout MemoryShard) -> StoredVariants? {
        guard let old = shard.table.remove(hash.low, key) else { return nil }
        totalBytes.subtract(old.byteCount, ordering: .relaxed)
        totalEntries.subtract(1, ordering: .relaxed)
        return old
    }
}
