import EventLoop
import HTTPCaching
import Synchronization

/// What the store's callers and its threads share.
final class StoreCore: Sendable {
    /// The file hears of a row's use at most once in so many seconds.
    static let accessInterval: UInt32 = 300
    /// Of a store above another's file: so high that they fall together with none of that.
    static let firstRowAboveFile: StoredRowID = 1 << 42

    let configuration: StoreConfiguration
    /// `nil` for a store in memory.
    let file: StoreFile?
    /// By which keys are hashed.
    let secret: [UInt8]
    let memory: MemoryTier
    let queue: WriterQueue
    let readers: ReaderPool<ReadJob>
    /// Those who list and look at the store, on a thread of their own: a page takes longer than a look-up may wait.
    let browsers = ReaderPool<BrowseJob>(limit: 64)
    let checkpointer = Checkpointer()
    let pendingResponses = PendingRegistry()
    let partials = PartialDirectory()
    let pendingBudget: PendingBudget
    let holds = BodyHolds()
    let purges = PurgeMarks()
    let chains: ChainDirectory
    let counters = StoreCounters()
    let unstored = UnstoredCounts()
    /// Counts the files that stood under the path.
    let fileGeneration = Atomic<Int>(0)
    private let lastRow = Atomic<Int64>(0)

    init(_ configuration: StoreConfiguration, secret: [UInt8], nextRow: StoredRowID, chains: ChainDirectory = ChainDirectory()) {
        self.chains = chains
        self.secret = secret
        var configuration = configuration
        // What all pending responses together have no room for cannot come whole.
        configuration.memoryBodyLimit = min(
            configuration.memoryBodyLimit, configuration.memory.high, configuration.limits.pendingBytes / 2)
        self.configuration = configuration
        file = configuration.isInMemory ? nil : StoreFile(path: configuration.path, role: configuration.role)
        memory = MemoryTier(
            hasher: KeyHasher(secret: secret), marks: configuration.memory, hasDisk: configuration.writesFile,
            backingStore: configuration.readsBackingStore ? ReadOnlyBackingStore(configuration) : nil, purges: purges,
            unstored: unstored)
        queue = WriterQueue(limits: configuration.limits)
        readers = ReaderPool(limit: configuration.limits.queuedReads)
        pendingBudget = PendingBudget(limit: configuration.limits.pendingBytes)
        lastRow.store(nextRow - 1, ordering: .relaxed)
    }

    /// A longer body is not stored.
    var bodyLimit: UInt64 {
        UInt64(configuration.writesFile ? max(configuration.disk.low, 0) : configuration.memoryBodyLimit)
    }

    func greatestBodyLength(of response: StoredResponse) -> UInt64 {
        memory.hasDisk && !response.facts.isMemoryOnly ? bodyLimit : UInt64(configuration.memoryBodyLimit)
    }

    /// Each pending response may always have two chunks in memory, so their number is bounded too.
    var mayBeginPending: Bool {
        !pendingBudget.isExceeded && pendingResponses.count < max(1, configuration.limits.pendingBytes / (2 * Chunk.length))
    }

    func makeRow() -> StoredRowID { lastRow.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    /// - Parameters:
    ///   - isPromised: The store has begun to fill it.
    ///   - since: When its fetch began.
    func put(_ response: StoredResponse, isPromised: Bool = false, since: StoreEpoch) -> PutOutcome {
        let hash = memory.hasher.hash(response.key)
        let placed = response.placed(body: response.body, row: makeRow())
        let isForDisk = memory.hasDisk && !response.facts.isMemoryOnly
        if isForDisk {
            // Where memory does not offer it, something newer is stored.
            var refusal: UnstoredReason? = .superseded
            let result = memory.put(placed, hash, since: since) {
                refusal = queue.offer(.store($0, hash), isPromised: isPromised)
                return refusal == nil
            }
            if case .invalidated = result { refusal = .invalidated }
            if let refusal { unstored.note(refusal) }
            nudgeIfFull()
            return result
        }
        guard let kept = keepInMemory(placed, hash, since: since) else {
            unstored.note(.invalidated)
            return .invalidated
        }
        nudgeIfFull()
        return .accepted(kept)
    }

    /// Memory alone keeps it: what it takes the place of leaves the disk, or does not come there.
    func keepInMemory(_ response: StoredResponse, _ hash: KeyHash, since: StoreEpoch) -> StoredResponse? {
        for pending in pendingResponses.all(of: hash) {
            let other = pending.plan.response
            if other.key == response.key, response.replaces(other), response.requestTime > other.requestTime {
                pending.stopKeeping(because: .superseded)
            }
        }
        return memory.promote(response, hash, since: since) { [queue] in
            queue.add(.displace(by: $0.withoutContent, hash), urgent: false)
        }
    }

    private func nudgeIfFull() {
        if memory.byteCount > configuration.memory.high { queue.nudge() }
    }
}

package enum PutOutcome: Sendable {
    /// The response as it is stored now, with its row; where a newer one has its place, it is not.
    case accepted(StoredResponse)
    /// The writer is behind, or the disk full: it is not stored.
    case busy
    /// It was purged or invalidated after its fetch had begun: it is not stored.
    case invalidated
}

/// The pending responses under way, by the hash of their keys.
final class PendingRegistry: Sendable {
    private let pendingResponses = Guarded<[UInt64: [PendingResponse]]>([:])
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .relaxed) }

    func add(_ pending: PendingResponse) {
        pendingResponses.withLock { $0[pending.keyHash.low, default: []].append(pending) }
        number.add(1, ordering: .relaxed)
    }

    /// Removes it, where it is there.
    func remove(_ pending: PendingResponse) {
        let hash = pending.keyHash.low
        let wasThere = pendingResponses.withLock { pendingResponses in
            guard let index = pendingResponses[hash]?.firstIndex(where: { $0 === pending }) else { return false }
            pendingResponses[hash]?.remove(at: index)
            if pendingResponses[hash]?.isEmpty ?? false { pendingResponses[hash] = nil }
            return true
        }
        if wasThere { number.subtract(1, ordering: .relaxed) }
    }

    func all(of hash: KeyHash) -> [PendingResponse] { pendingResponses.withLock { $0[hash.low] ?? [] } }

    var all: [PendingResponse] { pendingResponses.withLock { $0.values.flatMap { $0 } } }

    func lookAfter(now: Int64) {
        for pending in all { pending.lookAfter(now: now) }
    }
}

/// Bodies that are being delivered: their chunks stay until they have been.
final class BodyHolds: Sendable {
    private let counts = Guarded<[Int64: Int]>([:])

    func add(_ body: Int64) { counts.withLock { $0[body, default: 0] += 1 } }

    func remove(_ body: Int64) {
        counts.withLock { counts in
            guard let count = counts[body] else { return }
            counts[body] = count > 1 ? count - 1 : nil
        }
    }

    func contains(_ body: Int64) -> Bool { counts.withLock { $0[body] != nil } }

    /// The same body, which stays on the disk while the reference exists. It has to be there still.
    func held(_ body: BodyReference) -> BodyReference {
        BodyReference(id: body.id, length: body.length, hold: BodyHold(body, in: self))
    }

    /// The same response, whose body stays on the disk while the response exists.
    func held(_ response: StoredResponse) -> StoredResponse {
        guard case .onDisk(let body) = response.body else { return response }
        return response.placed(body: .onDisk(held(body)), row: response.row)
    }
}

/// Keeps a body on the disk while it is delivered, even if its response is replaced or evicted meanwhile.
package final class BodyHold: Sendable {
    package let body: BodyReference
    private let holds: BodyHolds

    init(_ body: BodyReference, in holds: BodyHolds) {
        self.body = body
        self.holds = holds
        holds.add(body.id)
    }

    deinit { holds.remove(body.id) }
}
