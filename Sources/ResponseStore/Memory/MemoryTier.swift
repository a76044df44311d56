import EventLoop
import HTTPCaching
import Synchronization

/// The responses in memory, and what is known about the disk without reading it. Shared by all loops and the store's threads.
///
/// There are 64 shards, each with a lock that is held for a probe and a retain. A change is queued for the writer while its shard
/// is locked. The disk therefore gets the changes to one key in the same order as memory.
final class MemoryTier: Sendable {
    static let shardCount = 64

    let hasher: KeyHasher
    let marks: StoreConfiguration.Marks
    /// Whether there is a disk that new responses are written to.
    let hasDisk: Bool
    /// A file that is read but never written.
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

    /// The size in bytes of the tables that find responses in memory and list the keys on disk.
    var indexByteCount: Int {
        (0..<MemoryTier.shardCount).reduce(0) { sum, index in
            sum + shards[index].withLock { $0.table.ownByteCount + $0.keys.byteCount + $0.hidden.byteCount }
        }
    }

    var now: UInt32 { second.load(ordering: .relaxed) }

    func advance(to second: UInt32) { self.second.store(second, ordering: .relaxed) }

    // MARK: Finding

    /// The hot path: does not allocate, and holds one lock for a probe.
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
        /// Read the disk now, and pass this number to `endLookUp`.
        case ready(UInt64)
        /// A change to the key waits to be written: look up the key after the write.
        case waiting
    }

    func beginLookUp(_ hash: KeyHash) -> LookUpStart {
        shards[shard(hash)].withLock { $0.isWaiting(hash.low) ? .waiting : .ready($0.changes) }
    }

    /// Adds the complete set of responses that the disk had for a key.
    /// - Returns: `nil` if something changed since `beginLookUp`: the result may be wrong by now.
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
            // Another process may remove a body from its file at any time: the next lookup reads the file again.
            if backingStore != nil, found.responses.contains(where: \.isOnDisk) { return .found(found) }
            if byteCount + found.byteCount <= room { dropped = insert(found, hash, into: &shard) }
            return .found(found)
        }
        withExtendedLifetime(dropped) {}
        return answer
    }

    // MARK: Changing

    /// The current epoch of a key.
    func moment(_ hash: KeyHash) -> StoreEpoch {
        StoreEpoch(purge: purges.latest, invalidation: shards[shard(hash)].withLock { $0.invalidations(hash.low) })
    }

    func wasInvalidated(_ hash: KeyHash, since: StoreEpoch) -> Bool {
        shards[shard(hash)].withLock { $0.invalidations(hash.low) } != since.invalidation
    }

    /// Adds a response and queues it for the disk.
    /// - Parameter enqueue: called under the shard's lock with the response, which a purge may have made stale.
    /// - Returns: `accepted` if the response was queued, or a newer response is stored instead; otherwise nothing has changed.
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

    /// Adds a key that is about to be written, for a response that is not in memory yet.
    func expect(_ hash: KeyHash) { shards[shard(hash)].withLock { $0.keys.insert(hash.high) } }

    /// Adds a large response that is complete on disk, or a response that is kept in memory only.
    /// - Parameter displace: for a response in memory only: called under the lock with the response, which a purge may have made
    ///   stale, and only if the disk may have something for the key.
    /// - Returns: the response, which a purge may have made stale; `nil` if a purge or an invalidation removes it.
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
                // A change that arrived meanwhile, perhaps an invalidation, waits to be written: only the disk will have the result.
                return response
            }
            dropped = keep(response, hash, mayHaveOthers: hasDisk, now: now, in: &shard)
            return response
        }
        withExtendedLifetime(dropped) {}
        return kept
    }

    /// Replaces a response with its freshened version, and queues the new version for the disk (RFC 9111 §4.3.4).
    func freshen(
        _ old: StoredResponse, as new: StoredResponse, _ hash: KeyHash, since: StoreEpoch, enqueue: (StoredResponse) -> Void
    ) {
        if backingStore != nil, keepAboveFile(old, as: new, hash, since: since) { return }
        change(hash, key: new.key) { variants in
            // If a purge removes the new response, it also removes the response that would be replaced.
            guard let new = purges.left(of: new, since: since.purge) else { return nil }
            if hasDisk { enqueue(new) }
            let isSameVariant = new.nominatedFields == old.nominatedFields
            let others = variants.filter { !MemoryTier.isSame($0, old) }
            if others.count == variants.count { return variants }
            // A 304 may have a different Vary: the previous response of the new variant is removed.
            return (isSameVariant ? others : others.filter { !new.replaces($0) }).inserting(new)
        }
    }

    func remove(_ response: StoredResponse, _ hash: KeyHash, enqueue: () -> Void) {
        change(hash, key: response.key) { variants in
            if hasDisk { enqueue() }
            return variants.filter { !MemoryTier.isSame($0, response) }
        }
    }

    /// Removes the responses that a purge covers, or makes them stale. Responses that arrive later are checked against the purge's
    /// mark.
    /// - Returns: the number of covered responses that are on no disk.
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
        // The filter may match any response in the file.
        backingStore?.leave(because: "a purge may have removed responses that this file still contains")
        for index in 0..<MemoryTier.shardCount {
            // The filter is evaluated outside the lock, because there may be thousands of responses.
            let all = shards[index].withLock { shard in
                // A lookup on disk that began before the purge must start again.
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

    /// A shard's responses that are in no file.
    func responsesInMemoryAlone(shard index: Int) -> [StoredResponse] {
        shards[index].withLock { shard in
            var found: [StoredResponse] = []
            shard.table.forEach(from: 0, count: shard.table.capacity) { variants in
                found += variants.responses.filter { !hasDisk || $0.facts.isMemoryOnly }
            }
            return found
        }
    }

    /// Counts an invalidation: the responses to fetches of this key that have already begun will not be stored.
    func countInvalidation(_ hash: KeyHash) { shards[shard(hash)].withLock { $0.countInvalidation(hash.low) } }

    /// Removes all responses of a key (RFC 9111 §4.4).
    /// - Parameters:
    ///   - isBeingWritten: a body of the key was being stored; its row may be committed soon, and memory may not know it yet.
    ///   - enqueue: called under the lock, only if the disk may have something for the key.
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

    /// Applies the purges and invalidations since the epoch to a response. Returns the response, which a purge may have made
    /// stale, or `nil` if it is removed.
    func left(
        of response: StoredResponse, _ hash: KeyHash, since: StoreEpoch, in shard: borrowing MemoryShard
    ) -> StoredResponse? {
        guard shard.invalidations(hash.low) == since.invalidation else { return nil }
        return purges.left(of: response, since: since.purge)
    }

    /// Notes that the backing file's responses for the key may be out of date from now on.
    private func hideFile(_ hash: KeyHash, in shard: inout MemoryShard) {
        guard let backingStore, !shard.hide(hash.high, limit: backingStore.hiddenKeysOfShard) else { return }
        backingStore.leave(because: "too many of the responses in this file have been replaced or changed in memory")
    }

    private func noteChange(_ hash: KeyHash, in shard: inout MemoryShard) {
        shard.changes &+= 1
        if hasDisk { shard.addWaiting(hash.low) }
    }

    /// - Parameter transform: called under the lock with the responses in memory; queues the change for the disk. `nil` means no
    ///   change.
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

    /// Whether the response would replace a newer one.
    func isSuperseded(_ response: StoredResponse, _ hash: KeyHash, in shard: inout MemoryShard) -> Bool {
        guard let stored = shard.table.find(hash.low, response.key) else { return false }
        return stored.responses.contains { response.replaces($0) && $0.supersedes(response) }
    }

    /// Adds a new response to the other responses of its key, and removes those that it replaces.
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
            // The writer has not evicted enough yet: only the disk keeps the response. If the response is not for the disk, it is not
            // stored.
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
