import HTTPCaching

/// Responses from a read-only backing file whose heads memory has updated. Their bodies may still be in the file.
///
/// The key of such a response is hidden: only the memory's version is used. A body in the file is usable only while the file still has
/// the row in which it was found; this is checked each time.
extension MemoryTier {
    /// Keeps a freshened response that only the file had until now.
    /// - Returns: `false` if memory already has the response.
    func keepAboveFile(_ old: StoredResponse, as new: StoredResponse, _ hash: KeyHash, since: StoreEpoch) -> Bool {
        let now = now
        var dropped: [StoredVariants?] = []
        let isDone = shards[shard(hash)].withLock { shard in
            let known = shard.table.find(hash.low, new.key)
            if known?.responses.contains(where: { MemoryTier.isSame($0, old) }) == true { return false }
            // A response that memory has evicted or removed is not restored.
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

    /// The memory's responses for a hidden key, without those whose bodies are no longer in the file.
    /// - Parameter found: the responses that the file has now.
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
