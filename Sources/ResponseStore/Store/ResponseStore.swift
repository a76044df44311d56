import EventLoop
import HTTPCaching
import HTTPMessage

/// The store of responses: one SQLite file with a memory tier.
///
/// Usable from any thread. No call blocks on the disk unless its comment says so; results that need the disk arrive through a `Reply`.
package final class ResponseStore: Sendable {
    let core: StoreCore
    // A copy of the core's reference, to save every hit one indirection.
    private let memory: MemoryTier
    private let lock: Guarded<StoreLock?>
    private let threads: Guarded<[StoreThread]>

    /// Opens the store, in constant time. A damaged file is moved aside.
    /// - Throws: an error if another process uses the store, or if the file cannot be opened or belongs to a newer version or
    ///   another application.
    package init(_ configuration: StoreConfiguration) throws(StoreError) {
        let secret = FileSystem.randomBytes(KeyHasher.secretLength)
        if !configuration.writesFile {
            lock = Guarded(nil)
            core =
                configuration.isInMemory
                ? StoreCore(configuration, secret: secret, nextRow: 1) : try StoreCore(readingBackingStore: configuration)
            memory = core.memory
            let core = core
            threads = Guarded(
                [StoreThread(name: "store-writer") { MemoryOnlyWriter(core).run() }] + ResponseStore.readers(of: core))
            return
        }
        try FileSystem.makeFolder(FileSystem.folder(of: configuration.path))
        try StorePlace.check(configuration.path)
        try FilesBesideStore.check(besideNewStoreAt: configuration.path)
        let held = try StoreLock(besideStoreAt: configuration.path)
        lock = Guarded(held)
        let opening = Monitor<Result<StoreCore, StoreError>?>(nil)
        let writer = StoreThread(name: "store-writer") {
            StoreWriter.open(configuration, secret: secret, opening)?.run()
        }
        let core: StoreCore
        switch opening.wait(until: { $0 }) {
        case .success(let opened): core = opened
        case .failure(let error):
            writer.join()
            if error.code == .foreignFile { held.removeNewFile() }
            throw error
        case nil: preconditionFailure("an endless wait has ended")
        }
        self.core = core
        memory = core.memory
        let log = StoreThread(name: "store-log") { core.checkpointer.run(core) }
        threads = Guarded([writer, log] + ResponseStore.readers(of: core))
    }

    /// The threads that read the file; empty if there is no file.
    private static func readers(of core: StoreCore) -> [StoreThread] {
        if core.file == nil { return [] }
        let readers = (0..<max(1, core.configuration.readerCount)).map { number in
            StoreThread(name: "store-reader-\(number)") { StoreReader(core).run() }
        }
        return readers + [StoreThread(name: "store-browser") { BrowsingReader(core).run() }]
    }

    deinit { shutdown() }

    /// Writes everything that is queued, and closes the file. Later calls have no effect and find nothing.
    package func shutdown() {
        let started = threads.withLock { threads in
            let started = threads
            threads = []
            return started
        }
        if started.isEmpty { return }
        core.readers.stop()
        core.browsers.stop()
        core.queue.stop()
        // Joins the writer first, because the writer may still wait for a checkpoint.
        started[0].join()
        core.checkpointer.stop()
        for thread in started.dropFirst() { thread.join() }
        for job in core.readers.takeAll() { job.giveUp() }
        for job in core.browsers.takeAll() { job(nil) }
        lock.withLock { $0 = nil }
    }

    // MARK: Finding

    /// Looks up a key in memory. Does not allocate.
    package func inMemory(_ key: Span<UInt8>) -> MemoryAnswer { memory.find(key) }

    /// Looks up a key on disk. The responses found are kept in memory, with bodies up to the limit for memory.
    package func lookUp(_ key: [UInt8], reply: Reply<LookUpResult>) { lookUp(key) { reply.send($0) } }

    func lookUp(_ key: [UInt8], _ answer: @escaping @Sendable (LookUpResult) -> Void) {
        guard core.memory.hasDisk || core.memory.backingStore?.isUsed == true else {
            return answer(LookUpResult(core.memory.find(key.span).orAbsent))
        }
        let job = LookUpJob(key: key, hash: core.memory.hasher.hash(key), answer: answer)
        if !core.readers.add(.lookUp(job)) { answer(.unavailable) }
    }

    /// Reads the piece of a body from the offset to the end of its chunk: at most 128 KiB, verified.
    package func readBody(_ body: BodyReference, at offset: UInt64, reply: Reply<BodyReadResult>) {
        readBody(body, at: offset) { reply.send($0) }
    }

    func readBody(_ body: BodyReference, at offset: UInt64, _ answer: @escaping @Sendable (BodyReadResult) -> Void) {
        if !core.readers.add(.body(BodyReadJob(body: body, offset: offset, answer: answer))) { answer(.failed) }
    }

    /// Keeps a body readable until the returned hold is released. Call this before the first read of the body.
    package func hold(_ body: BodyReference) -> BodyHold { BodyHold(body, in: core.holds) }

    /// Whether there are partial responses.
    package var hasPartials: Bool { !core.partials.isEmpty }

    /// The partial responses for a key. Does not block on the disk.
    package func partials(of key: [UInt8]) -> [PartialResponse] {
        let found = core.partials.find(key)
        let purges = found.isEmpty ? [] : core.purges.active
        return purges.isEmpty ? found : found.filter { purges.left(of: $0.response) === $0.response }
    }

    /// Whether any body is being stored.
    package var hasPending: Bool { core.pendingResponses.count > 0 }

    /// The bodies that are being stored for a key and will soon be available in the store. Does not block on the disk.
    package func pendingResponses(of key: [UInt8]) -> [PendingResponse] {
        core.pendingResponses.all(of: core.memory.hasher.hash(key.span)).filter { $0.plan.response.key == key && $0.isStoring }
    }

    /// Calls back when a completed part can be found by its key, or will certainly not be stored. Makes the writer start at once.
    /// - Returns: `false` if there is no such part, or the writer is too slow; there is no callback then.
    package func whenPartIsWritten(of key: [UInt8], _ reply: @autoclosure () -> Reply<PendingOutcome>) -> Bool {
        guard hasPending, let part = pendingResponses(of: key).first(where: \.endsInPart), core.queue.refusal == nil else {
            return false
        }
        part.whenStored(reply())
        core.queue.nudge()
        return true
    }

    // MARK: Storing

    /// The shared instance of a certificate chain, for use by responses.
    /// - Returns: `nil` if the chains take too much memory: responses are then stored without this chain.
    package func shared(_ chain: RecordedChain) -> RecordedChain? { core.chains.shared(chain) }

    /// Whether a response whose body has not arrived yet will be stored, as far as is known. If so, pass `isPromised` to `put`. If not,
    /// the response is counted as not stored.
    package func admitNew() -> Bool {
        guard core.memory.hasDisk, let reason = core.queue.refusal else { return true }
        core.unstored.note(reason)
        return false
    }

    /// Counts a response that is not passed to the store.
    package func noteUnstored(_ reason: UnstoredReason) { core.unstored.note(reason) }

    /// Stores a response with its body: in memory at once, on disk within a second.
    /// - Parameter isPromised: whether `admitNew` returned true when the head arrived; then only a full disk or a closing store causes a
    ///   refusal.
    /// - Parameter since: `moment` when its fetch began; `nil` means now.
    package func put(_ response: StoredResponse, isPromised: Bool = false, since: StoreEpoch? = nil) -> PutOutcome {
        core.put(response, isPromised: isPromised, since: since ?? moment(of: response.key))
    }

    /// The maximum length of a body that is stored for this response, in bytes.
    package func greatestBodyLength(of response: StoredResponse) -> UInt64 { core.greatestBodyLength(of: response) }

    /// Starts storing a response whose body has not arrived yet.
    /// - Returns: `nil` if the response cannot be stored: the writer is too slow, the disk is full, or the body is too long.
    package func beginPending(_ plan: PendingPlan) -> PendingResponse? {
        let isForDisk = core.memory.hasDisk && !plan.response.facts.isMemoryOnly
        // A store that only uses memory keeps no partial responses.
        if plan.part != nil, !isForDisk { return nil }
        if let reason = refusal(of: plan, isForDisk: isForDisk) {
            core.unstored.note(reason)
            return nil
        }
        let hash = core.memory.hasher.hash(plan.response.key)
        let pending = PendingResponse(
            plan, row: core.makeRow(), keyHash: hash, core: core, isStoring: isForDisk,
            since: plan.since ?? moment(of: plan.response.key))
        if plan.part != nil { for other in pendingResponses(of: plan.response.key) { other.noteOverlap(by: plan) } }
        core.pendingResponses.add(pending)
        // From here on, a purge or invalidation finds this response among the pending responses.
        let isPurged = core.purges.left(of: plan.response, since: pending.since.purge) !== plan.response
        if isPurged || core.memory.wasInvalidated(hash, since: pending.since) { pending.stopKeeping() }
        core.counters.pendingResponses.wrappingAdd(1, ordering: .relaxed)
        return pending
    }

    private func refusal(of plan: PendingPlan, isForDisk: Bool) -> UnstoredReason? {
        if plan.wholeLength ?? 0 > greatestBodyLength(of: plan.response) { return .bodyTooLong }
        if !core.mayBeginPending { return .bodiesFull }
        return isForDisk ? core.queue.refusal : nil
    }

    // MARK: Changing

    /// The current epoch of a key. Call it before sending a request, and pass it when storing the response.
    package func moment(of key: [UInt8]) -> StoreEpoch { core.memory.moment(core.memory.hasher.hash(key)) }

    /// Whether the key may have been purged or invalidated since this epoch. If so, the response is not stored.
    package func isInvalidated(_ key: [UInt8], since moment: StoreEpoch) -> Bool {
        core.memory.wasInvalidated(core.memory.hasher.hash(key), since: moment)
            || core.purges.mayCover(key: key, since: moment.purge)
    }

    /// Replaces a complete or partial response with its freshened version (RFC 9111 §4.3.4).
    /// - Parameter since: `moment` when the request for the 304 was sent; `nil` means now.
    package func freshen(_ old: StoredResponse, as new: StoredResponse, since: StoreEpoch? = nil) {
        let hash = core.memory.hasher.hash(new.key)
        let since = since ?? core.memory.moment(hash)
        if core.memory.hasDisk, new.facts.isMemoryOnly { return takeOffDisk(old, as: new, hash, since: since) }
        let new = new.row == old.row ? new : new.placed(body: new.body, row: old.row)
        core.memory.freshen(old, as: new, hash, since: since) {
            core.partials.freshen($0)
            core.queue.add(.freshen($0, hash), urgent: false)
        }
    }

    /// Called if a 304 forbids storing its response on disk: deletes the row. Memory keeps the response if it has the body
    /// (threat T45 in docs/threats.md).
    private func takeOffDisk(_ old: StoredResponse, as new: StoredResponse, _ hash: KeyHash, since: StoreEpoch) {
        let core = core
        let removeRow = {
            core.partials.remove(row: old.row)
            core.queue.add(.remove(old, hash), urgent: false)
        }
        if new.isOnDisk { return core.memory.remove(old, hash, enqueue: removeRow) }
        // A new row id, so that operations queued for the old row do not affect it.
        let placed = new.placed(body: new.body, row: core.makeRow())
        core.memory.freshen(old, as: placed, hash, since: since) { _ in removeRow() }
    }

    /// Removes every response of these keys, including those being stored (RFC 9111 §4.4).
    package func invalidate(_ keys: [[UInt8]]) {
        for key in keys {
            let hash = core.memory.hasher.hash(key)
            // The invalidation is counted first: a body that is not yet among the pending responses checks the count when it begins.
            core.memory.countInvalidation(hash)
            let pendingResponses = core.pendingResponses.all(of: hash).filter { $0.plan.response.key == key }
            for pending in pendingResponses { pending.stopKeeping() }
            core.memory.invalidate(key, hash, isBeingWritten: !pendingResponses.isEmpty) {
                core.queue.add(.invalidate(key: key, hash), urgent: true)
            }
            // Partial responses are removed last: the change queued above is now waiting, and while a change to a key waits, the
            // writer adds no partial response of that key.
            core.partials.remove(key: key)
        }
    }

    /// Removes one complete or partial response.
    package func remove(_ response: StoredResponse) {
        let hash = core.memory.hasher.hash(response.key)
        core.memory.remove(response, hash) {
            core.partials.remove(row: response.row)
            core.queue.add(.remove(response, hash), urgent: false)
        }
    }

    package var statistics: StoreStatistics {
        let counters = core.counters
        let queued = core.queue.count
        let unstored = core.unstored.all
        return StoreStatistics(
            entries: counters.entries.load(ordering: .relaxed), bytes: counters.bytes.load(ordering: .relaxed),
            memoryEntries: core.memory.entryCount, memoryBytes: core.memory.byteCount, indexBytes: core.memory.indexByteCount,
            logBytes: core.file.map { FileSystem.length(of: $0.path + "-wal") ?? 0 } ?? 0, queuedOperations: queued.operations,
            queuedBytes: queued.bytes, stored: counters.stored.load(ordering: .relaxed),
            evicted: counters.evicted.load(ordering: .relaxed), memoryEvicted: counters.memoryEvicted.load(ordering: .relaxed),
            refusedBusy: unstored.reduce(0) { $1.key.isBusy ? $0 + $1.value : $0 },
            notStored: counters.notStored.load(ordering: .relaxed), unstored: unstored,
            damagedEntries: counters.damagedEntries.load(ordering: .relaxed),
            damagedFiles: counters.damagedFiles.load(ordering: .relaxed),
            pendingResponses: counters.pendingResponses.load(ordering: .relaxed),
            partials: counters.partials.load(ordering: .relaxed), knowsKeys: counters.knowsKeys.load(ordering: .relaxed))
    }
}

extension MemoryAnswer {
    fileprivate var orAbsent: MemoryAnswer {
        if case .unknown = self { .absent } else { self }
    }
}

extension ReadJob {
    func giveUp() {
        switch self {
        case .lookUp(let job): job.answer(.unavailable)
        case .body(let job): job.answer(.failed)
        }
    }
}
