import EventLoop
public import HTTPCaching

/// Stores responses in memory, up to a total size.
public final class MemoryResponseCache: ResponseCaching {
    private let cache: CostLimitedCache<CachedResponse.Key, [CachedResponse]>
    private let variantLimit: Int
    private let bodyLengthLimit: UInt64
    private let removals = Guarded(Removals())

    /// - Parameters:
    ///   - capacity: in bytes; above it, the least recently used responses are evicted until at most `preferredAfterPurge` is left.
    ///   - preferredAfterPurge: the size, in bytes, at which eviction stops.
    ///   - variantLimit: how many variants (Vary) of one target are stored.
    ///   - bodyLengthLimit: in bytes; a response with a longer body is not stored. `nil`: a quarter of the capacity.
    public init(
        capacity: UInt64 = 20 << 20, preferredAfterPurge: UInt64 = 12 << 20, variantLimit: Int = 32,
        bodyLengthLimit: UInt64? = nil
    ) {
        cache = CostLimitedCache(capacity: capacity, preferredAfterPurge: preferredAfterPurge)
        self.variantLimit = variantLimit
        self.bodyLengthLimit = bodyLengthLimit ?? capacity / 4
    }

    /// The size of all stored responses, in bytes.
    public var cost: UInt64 { cache.cost }

    /// How much the cache holds now.
    public func statistics() -> CacheStatistics {
        CacheStatistics(responses: cache.sum { $0.count }, size: cache.cost, capacity: cache.capacity)
    }

    /// The responses stored under a key, newest first.
    public func responses(for key: CachedResponse.Key) -> [CachedResponse] { cache.value(for: key) ?? [] }

    /// Always `nil`: stored responses carry their bodies in memory.
    public func body(of response: CachedResponse) -> (any CachedBodyReading)? { nil }

    /// The current counts of removals, to detect a removal that happens while a response is being received.
    public func moment(for key: CachedResponse.Key) -> InvalidationEpoch { removals.withLock { $0.moment(for: key) } }

    /// Stores a response; it replaces one that was stored for the same requests.
    @discardableResult
    public func store(_ response: CachedResponse, since moment: InvalidationEpoch) -> Bool {
        guard let octets = response.octets, octets.count <= bodyLengthLimit else { return false }
        cache.update(response.key) { former in
            let isInvalidated = self.moment(for: response.key) != moment
            let others = (former ?? []).filter { isInvalidated || !response.replaces($0) }
            return Self.entry(of: others + (isInvalidated ? [] : [response]), limit: variantLimit)
        }
        return self.moment(for: response.key) == moment
    }

    /// Collects the body in memory, and stores the response once the body is complete.
    public func beginStoring(
        _ response: CachedResponse, length: UInt64?, since moment: InvalidationEpoch
    ) -> (any CachedBodyWriting)? {
        if length ?? 0 > bodyLengthLimit { return nil }
        return GatheredBody(limit: bodyLengthLimit) { [weak self] octets, trailers in
            _ = self?.store(response.with(octets, trailers), since: moment)
        }
    }

    /// Replaces the stored response by its freshened form.
    public func freshen(_ old: CachedResponse, as new: CachedResponse, since moment: InvalidationEpoch) {
        store(new, since: moment)
    }

    /// Removes the responses that are stored for the same requests as this response.
    public func remove(_ response: CachedResponse) {
        cache.update(response.key) { former in
            Self.entry(of: (former ?? []).filter { !$0.replaces(response) }, limit: variantLimit)
        }
    }

    /// Removes all responses of a target.
    public func remove(_ key: CachedResponse.Key) {
        removals.withLock { $0.note(key) }
        cache.remove(key)
    }

    /// - Returns: whether any response was removed.
    @discardableResult
    public func removeAll() -> Bool {
        removals.withLock { $0.all += 1 }
        return cache.removeAll()
    }

    private static func entry(of responses: [CachedResponse], limit: Int) -> (value: [CachedResponse], cost: UInt64)? {
        if responses.isEmpty { return nil }
        let kept = Array(responses.sorted { $0.isNewer(than: $1) }.prefix(limit))
        return (kept, kept.reduce(0) { $0 + $1.cost })
    }

    /// Several keys share one counter, so memory use is constant. At worst, a removal under another key prevents a response from
    /// being stored.
    private struct Removals: Sendable {
        var all: Int64 = 0
        private var counts = [UInt32](repeating: 0, count: 256)

        func moment(for key: CachedResponse.Key) -> InvalidationEpoch {
            InvalidationEpoch(removals: all, removalsOfKey: counts[place(of: key)])
        }

        mutating func note(_ key: CachedResponse.Key) { counts[place(of: key)] &+= 1 }

        private func place(of key: CachedResponse.Key) -> Int { Int(UInt(bitPattern: key.hashValue) % UInt(counts.count)) }
    }
}

/// Collects a body in memory until it is complete.
private final class GatheredBody: CachedBodyWriting {
    private let limit: UInt64
    private let octets = Guarded<[UInt8]?>([])
    private let keep: @Sendable ([UInt8], CachedResponse.Trailers) -> Void

    init(limit: UInt64, _ keep: @escaping @Sendable ([UInt8], CachedResponse.Trailers) -> Void) {
        self.limit = limit
        self.keep = keep
    }

    func append(_ piece: [UInt8]) {
        octets.withLock { octets in
            guard let count = octets?.count else { return }
            if UInt64(count + piece.count) > limit { octets = nil } else { octets?.append(contentsOf: piece) }
        }
    }

    func finish(_ trailers: CachedResponse.Trailers) {
        let whole = octets.withLock { octets in
            defer { octets = nil }
            return octets
        }
        if let whole { keep(whole, trailers) }
    }

    func abort() { octets.withLock { $0 = nil } }
}
