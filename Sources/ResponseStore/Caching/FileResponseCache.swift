public import HTTPCaching
import HTTPMessage

/// A response cache in a file, with a memory tier: the proxy's store, for use by a session. Session and proxy can use each other's
/// responses, since both store and reuse by the same rules. Only one process at a time can open a file.
///
/// Usable from any task. Bodies are transferred in pieces, so that even long bodies need little memory.
public final class FileResponseCache: ResponseCaching {
    private let store: ResponseStore
    private let capacity: UInt64

    /// Opens the file, or creates it with its directory. A damaged file is moved aside.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - capacity: the maximum size of the file in bytes. Above it, the least recently used responses are evicted until three
    ///     quarters remain.
    ///   - memoryCapacity: the same for the memory tier, in bytes.
    /// - Throws: an error if another process uses the file, if the file belongs to another application or a newer version,
    ///   or if it cannot be opened.
    public convenience init(
        path: String, capacity: UInt64 = 2 << 30, memoryCapacity: UInt64 = 16 << 20
    ) throws(StoreError) {
        var configuration = StoreConfiguration(path: path)
        configuration.disk = Self.marks(capacity)
        configuration.memory = Self.marks(memoryCapacity)
        configuration.memoryBodyLimit = min(configuration.memoryBodyLimit, configuration.memory.high / 4)
        self.init(try ResponseStore(configuration), capacity: capacity)
    }

    /// Uses a store that the caller opens and shuts down.
    package init(_ store: ResponseStore, capacity: UInt64 = 2 << 30) {
        self.store = store
        self.capacity = capacity
    }

    private static func marks(_ capacity: UInt64) -> StoreConfiguration.Marks {
        let high = Int(clamping: capacity)
        return StoreConfiguration.Marks(high: high, low: high / 4 * 3)
    }

    /// Writes everything that is queued, and closes the file. Later calls find and store nothing. Blocks on the disk.
    public func close() { store.shutdown() }

    // MARK: Finding

    public func responses(for key: CachedResponse.Key) async -> [CachedResponse] {
        switch store.inMemory(key.octets.span) {
        case .absent: return []
        case .found(let variants) where variants.isComplete: return variants.responses.map { CachedResponse($0) }
        case .found, .unknown: break
        }
        let result = await withCheckedContinuation { continuation in
            store.lookUp(key.octets) { continuation.resume(returning: $0) }
        }
        guard case .found(let variants) = result else { return [] }
        return variants.responses.map { CachedResponse($0) }
    }

    public func body(of response: CachedResponse) -> (any CachedBodyReading)? {
        guard case .onDisk(let reference) = response.stored.body else { return nil }
        return StoredBodyReader(reference, in: store)
    }

    // MARK: Keeping

    public func moment(for key: CachedResponse.Key) -> InvalidationEpoch { InvalidationEpoch(store.moment(of: key.octets)) }

    @discardableResult
    public func store(_ response: CachedResponse, since moment: InvalidationEpoch) async -> Bool {
        guard let octets = response.octets else { return false }
        if octets.count <= Self.pieceLength {
            if case .accepted = store.put(sharingChain(response.stored), since: StoreEpoch(moment)) { return true }
            return false
        }
        let length = UInt64(octets.count)
        let head = response.with([], CachedResponse.Trailers(response.stored.trailers))
        guard let writer = await beginStoring(head, length: length, since: moment) else { return false }
        var start = 0
        while start < octets.count {
            let end = min(start + Self.pieceLength, octets.count)
            await writer.append(Array(octets[start..<end]))
            start = end
        }
        await writer.finish(CachedResponse.Trailers(response.stored.trailers))
        return true
    }

    /// The maximum size in bytes of a body stored at once. Longer bodies are stored in pieces, waiting for the writer in between.
    private static let pieceLength = 256 << 10

    public func beginStoring(
        _ response: CachedResponse, length: UInt64?, since moment: InvalidationEpoch
    ) async -> (any CachedBodyWriting)? {
        let plan = PendingPlan(response: sharingChain(response.stored), length: length, since: StoreEpoch(moment))
        return store.beginPending(plan).map(StoredBodyWriter.init)
    }

    public func freshen(_ old: CachedResponse, as new: CachedResponse, since moment: InvalidationEpoch) async {
        store.freshen(old.stored, as: sharingChain(new.stored), since: StoreEpoch(moment))
    }

    /// Many responses share one chain, which is stored once.
    private func sharingChain(_ response: StoredResponse) -> StoredResponse {
        guard let chain = response.chain else { return response }
        return response.withTrust(policyMark: response.facts.trust, chain: store.shared(chain))
    }

    // MARK: Forgetting

    public func remove(_ response: CachedResponse) async { store.remove(response.stored) }

    public func remove(_ key: CachedResponse.Key) async { store.invalidate([key.octets]) }

    /// Removes all responses, and returns when they are deleted from the file. The file keeps its length, and its space is used again.
    /// - Returns: whether any response was removed; `false` if the cache is closed.
    @discardableResult
    public func removeAll() async -> Bool {
        await withCheckedContinuation { continuation in
            let isAccepted = store.purge(.matching(StoreFilter()), at: Timestamp(seconds: Clock.seconds())) { progress in
                switch progress {
                case .inEffect: break
                case .done(let count): continuation.resume(returning: count > 0)
                case .interrupted: continuation.resume(returning: false)
                }
            }
            if !isAccepted { continuation.resume(returning: false) }
        }
    }

    /// How much the file holds now. Responses that wait to be written are not counted.
    public func statistics() async -> CacheStatistics {
        let statistics = store.statistics
        return CacheStatistics(
            responses: statistics.entries, size: UInt64(clamping: statistics.bytes), capacity: capacity)
    }
}

extension InvalidationEpoch {
    fileprivate init(_ moment: StoreEpoch) {
        self.init(removals: moment.purge, removalsOfKey: moment.invalidation)
    }
}

extension StoreEpoch {
    fileprivate init(_ moment: InvalidationEpoch) {
        self.init(purge: moment.removals, invalidation: moment.removalsOfKey)
    }
}
