public import HTTPCaching

/// Responses in memory, within a sum of their lengths.
public final class MemoryResponseCache: ResponseCaching {
    private let cache: CostLimitedCache<CachedResponse.Key, [CachedResponse]>
    private let variantLimit: Int

    /// - Parameters:
    ///   - capacity: in octets; above it, what was used longest ago goes until no more than `preferredAfterPurge` is left.
    ///   - variantLimit: of one target, by Vary.
    public init(capacity: UInt64 = 20 << 20, preferredAfterPurge: UInt64 = 12 << 20, variantLimit: Int = 32) {
        cache = CostLimitedCache(capacity: capacity, preferredAfterPurge: preferredAfterPurge)
        self.variantLimit = variantLimit
    }

    /// How much is kept, in octets.
    public var cost: UInt64 { cache.cost }

    /// What is kept under a key, the newest first.
    public func responses(for key: CachedResponse.Key) -> [CachedResponse] { cache.value(for: key) ?? [] }

    /// Keeps a response, in the place of one that was made for the same requests.
    public func store(_ response: CachedResponse) {
        cache.update(response.key) { former in
            let others = (former ?? []).filter { !response.replaces($0) }
            let kept = Array(([response] + others).sorted { $0.isNewer(than: $1) }.prefix(variantLimit))
            return (kept, kept.reduce(0) { $0 + $1.cost })
        }
    }

    @discardableResult
    public func remove(_ key: CachedResponse.Key) -> Bool { cache.remove(key) }

    /// - Returns: whether there was something.
    @discardableResult
    public func removeAll() -> Bool { cache.removeAll() }
}
