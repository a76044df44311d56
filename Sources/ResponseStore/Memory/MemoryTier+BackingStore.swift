import HTTPCaching

/// What memory has brought up to date of a file behind it: heads of its own, before bodies that may stand in the file.
///
/// Such a key is hidden: nothing but what memory has for it is used. Bodies that stand in the file are there only as long as the file, asked
/// each time, has the row that they were found in.
extension MemoryTier {
    /// Keeps a freshened response of which only the file has known until now.
    /// - Returns: `false` where memory has it.
    func keepAboveFile(_ old: StoredResponse, as new: StoredResponse, _ hash: KeyHash, since: StoreEpoch) -> Bool {
        let now = now
        var dropped: [StoredVariants?] = []
        let isDone = shards[shard(hash)].withLock { shard in
            let known = shard.table.find(hash.low, new.key)
            if known?.responses.contains(where: { MemoryTier.isSame($0, old) }) == true { return false }
            // What memory has let go of, or forgotten for good, is not called back.
            if known == nil, shard.hidden.contains(hash.high) { return true }
            guard let new = left(of: new, hash, since: since, in: shard) else { return true }
            if isSuperseded(new, hash, in: &shard) { return true }
            shard.changes &+= 1
            dropped = keep(new, hash, mayHaveOthers: false, now: now, in: &shard)
            return true
        }
        withExtendedLifetime(dropped) {}
        return isDone
    }

    /// What memory has for a hidden key, but for bodies that are no longer in the file.
    /// - Parameter found: what stands there by now.
    func leftAboveFile(
        _ key: [UInt8], _ hash: KeyHash, beside found: StoredVariants?, now: UInt32, in shard: inout MemoryShard
    ) -> MemoryAnswer {
        guard let held = shard.table.find(hash.low, key) else { return .absent }
        let left = held.responses.filter { !$0.isOnDisk || found?.hasBody(of: $0) == true }
        if left.count < held.responses.count { _ = replace(held, by: left, hash, now: now, in: &shard) }
        guard !left.isEmpty, let variants = shard.table.find(hash.low, key) else { return .absent }
        variants.noteAccess(now: now)
        return .found(variants)
    }
}

extension StoredVariants {
    fileprivate func hasBody(of other: StoredResponse) -> Bool {
        guard case .onDisk(let body) = other.body else { return false }
        return responses.contains { response in
            if case .onDisk(let found) = response.body { found == body } else { false }
        }
    }
}
