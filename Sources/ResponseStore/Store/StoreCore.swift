import EventLoop
import HTTPCaching
import Synchronization

/// The state shared by the store's callers and its threads.
final class StoreCore: Sendable {
    /// The minimum number of seconds between two updates of a row's last use in the file.
    static let accessInterval: UInt32 = 300
    /// The first row id of a store above a backing file: above all ids in that file.
    static let firstRowAboveFile: StoredRowID = 1 << 42

    let configuration: StoreConfiguration
    /// The store's file; `nil` for a store that is only in memory.
    let file: StoreFile?
    /// The secret for hashing keys.
    let secret: [UInt8]
    let memory: MemoryTier
    let queue: WriterQueue
    let readers: ReaderPool<ReadJob>
    /// Listings and other browsing jobs, with their own thread: a page takes longer than a lookup may wait.
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
    /// Counts the files that were opened at the path.
    let fileGeneration = Atomic<Int>(0)
    private let lastRow = Atomic<Int64>(0)

    init(_ configuration: StoreConfiguration, secret: [UInt8], nextRow: StoredRowID, chains: ChainDirectory = ChainDirectory()) {
        self.chains = chains
        self.secret = secret
        var configuration = configuration
        // A body larger than all pending responses together may use cannot be kept in memory completely.
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

    /// The maximum length of a stored body.
    var bodyLimit: UInt64 {
        UInt64(configuration.writesFile ? max(configuration.disk.low, 0) : configuration.memoryBodyLimit)
    }

    func greatestBodyLength(of response: StoredResponse) -> UInt64 {
        memory.hasDisk && !response.facts.isMemoryOnly ? bodyLimit : UInt64(configuration.memoryBodyLimit)
    }

    /// Each pending response may keep at least two chunks in memory, so the number of pending responses is limited too.
    var mayBeginPending: Bool {
        !pendingBudget.isExceeded && pendingResponses.count < max(1, configuration.limits.pendingBytes / (2 * Chunk.length))
    }

    func makeRow() -> StoredRowID { lastRow.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    /// - Parameters:
    ///   - isPromised: the store has already accepted the response.
    ///   - since: the epoch when its fetch began.
    func put(_ response: StoredResponse, isPromised: Bool = false, since: StoreEpoch) -> PutOutcome {
        let hash = memory.hasher.hash(response.key)
        let placed = response.placed(body: response.body, row: makeRow())
        let isForDisk = memory.hasDisk && !response.facts.isMemoryOnly
        if isForDisk {
            // If memory does not call the closure, a newer response is already stored.
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

    /// Keeps a response in memory only. The responses that it replaces are deleted from disk, or not written there.
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
    /// The response as stored, with its row. If a newer response is stored instead, this is the response that was passed.
    case accepted(StoredResponse)
    /// The writer is too slow, or the disk is full: the response is not stored.
    case busy
    /// The response was purged or invalidated after its fetch began: it is not stored.
    case invalidated
}

/// The pending responses in progress, by the hash of their keys.
final class PendingRegistry: Sendable {
    private let pendingResponses = Guarded<[UInt64: [PendingResponse]]>([:])
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .relaxed) }

    func add(_ pending: PendingResponse) {
        pendingResponses.withLock { $0[pending.keyHash.low, default: []].append(pending) }
        number.add(1, ordering: .relaxed)
    }

    /// Removes the pending response, if it is present.
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

/// Bodies that are being delivered: their chunks are not deleted meanwhile.
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

    /// A reference to the body that keeps it on disk as long as the reference exists. The body must still be there.
    func held(_ body: BodyReference) -> BodyReference {
        BodyReference(id: body.id, length: body.length, hold: BodyHold(body, in: self))
    }

    /// A copy of the response that keeps the body on disk as long as the copy exists.
    func held(_ response: StoredResponse) -> StoredResponse {
        guard case .onDisk(let body) = response.body else { return response }
        return response.placed(body: .onDisk(held(body)), row: response.row)
    }
}

/// Keeps a body on disk while it is delivered, even if its response is replaced or evicted meanwhile.
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
