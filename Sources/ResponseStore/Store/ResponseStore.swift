import EventLoop
import HTTPCaching
import HTTPMessage

/// The store of responses: one SQLite file with a memory tier above.
///
/// Any thread may call it. No call waits for the disk; what needs it answers through a `Reply`.
package final class ResponseStore: Sendable {
    let core: StoreCore
    // The core's, since what every hit asks stands best a step nearer.
    private let memory: MemoryTier
    private let lock: Guarded<StoreLock?>
    private let threads: Guarded<[StoreThread]>

    /// Opens the store, in constant time. A damaged file is moved aside.
    /// - Throws: When another process has the store, its file is a newer version's or another application's, or nothing can be opened.
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

    /// The threads that read the file; none where there is none.
    private static func readers(of core: StoreCore) -> [StoreThread] {
        if core.file == nil { return [] }
        let readers = (0..<max(1, core.configuration.readerCount)).map { number in
            StoreThread(name: "store-reader-\(number)") { StoreReader(core).run() }
        }
        return readers + [StoreThread(name: "store-browser") { BrowsingReader(core).run() }]
    }

    deinit { shutdown() }

    /// Writes what is queued, and closes the file. Later calls do nothing; what is asked of the store then is answered with nothing found.
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
        // The writer first: it may still need a checkpoint to end.
        started[0].join()
        core.checkpointer.stop()
        for thread in started.dropFirst() { thread.join() }
        for job in core.readers.takeAll() { job.giveUp() }
        for job in core.browsers.takeAll() { job(nil) }
        lock.withLock { $0 = nil }
    }

    // MARK: Finding

    /// What memory knows of a key. Allocates nothing.
    package func inMemory(_ key: Span<UInt8>) -> MemoryAnswer { memory.find(key) }

    /// Asks the disk. What it finds stands in memory afterwards, bodies up to the limit for memory included.
    package func lookUp(_ key: [UInt8], reply: Reply<LookUpResult>) { lookUp(key) { reply.send($0) } }

    func lookUp(_ key: [UInt8], _ answer: @escaping @Sendable (LookUpResult) -> Void) {
        guard core.memory.hasDisk || core.memory.backingStore?.isUsed == true else {
            return answer(LookUpResult(core.memory.find(key.span).orAbsent))
        }
        let job = LookUpJob(key: key, hash: core.memory.hasher.hash(key), answer: answer)
        if !core.readers.add(.lookUp(job)) { answer(.unavailable) }
    }

    /// Reads the piece of a body that begins at the offset and ends with its chunk: 128 KiB at most, verified.
    package func readBody(_ body: BodyReference, at offset: UInt64, reply: Reply<BodyReadResult>) {
        readBody(body, at: offset) { reply.send($0) }
    }

    func readBody(_ body: BodyReference, at offset: UInt64, _ answer: @escaping @Sendable (BodyReadResult) -> Void) {
        if !core.readers.add(.body(BodyReadJob(body: body, offset: offset, answer: answer))) { answer(.failed) }
    }

    /// Keeps a body readable until the hold is let go. Take it before the first read.
    package func hold(_ body: BodyReference) -> BodyHold { BodyHold(body, in: core.holds) }

    /// Whether anything is stored in part.
    package var hasPartials: Bool { !core.partials.isEmpty }

    /// What is stored in part for a key. No call of it waits for the disk.
    package func partials(of key: [UInt8]) -> [PartialResponse] {
        let found = core.partials.find(key)
        let purges = found.isEmpty ? [] : core.purges.active
        return purges.isEmpty ? found : found.filter { purges.left(of: $0.response) === $0.response }
    }

    /// Whether any body is on its way.
    package var hasPending: Bool { core.pendingResponses.count > 0 }

    /// The bodies on their way for a key that can be found in the store before long. No call of it waits for the disk.
    package func pendingResponses(of key: [UInt8]) -> [PendingResponse] {
        core.pendingResponses.all(of: core.memory.hasher.hash(key.span)).filter { $0.plan.response.key == key && $0.isStoring }
    }

    /// Answers once a part that has come to its end can be found by its key, or certainly never will be. The writer is hurried.
    /// - Returns: `false` where there is none, or the writer is behind: nothing answers then.
    package func whenPartIsWritten(of key: [UInt8], _ reply: @autoclosure () -> Reply<PendingOutcome>) -> Bool {
        guard hasPending, let part = pendingResponses(of: key).first(where: \.endsInPart), core.queue.refusal == nil else {
            return false
        }
        part.whenStored(reply())
        core.queue.nudge()
        return true
    }

    // MARK: Storing

    /// What a server showed, as responses that come by it are to have it: once in memory for all of them.
    /// - Returns: `nil` where no more can be kept: they are stored without.
    package func shared(_ chain: RecordedChain) -> RecordedChain? { core.chains.shared(chain) }

    /// Whether a response whose body is yet to come will be stored, as far as can be known; `put` is then told of the promise. If not, the
    /// response is counted as not stored.
    package func admitNew() -> Bool {
        guard core.memory.hasDisk, let reason = core.queue.refusal else { return true }
        core.unstored.note(reason)
        return false
    }

    /// Counts a response that is not offered to the store.
    package func noteUnstored(_ reason: UnstoredReason) { core.unstored.note(reason) }

    /// Stores a response whose body is at hand: in memory at once, on the disk within a second.
    /// - Parameter isPromised: `admitNew` was asked when its head came, and only a full disk refuses it now.
    /// - Parameter since: `moment` when its fetch began; `nil`: now.
    package func put(_ response: StoredResponse, isPromised: Bool = false, since: StoreEpoch? = nil) -> PutOutcome {
        core.put(response, isPromised: isPromised, since: since ?? moment(of: response.key))
    }

    /// A longer body of this response is not stored, in bytes.
    package func greatestBodyLength(of response: StoredResponse) -> UInt64 { core.greatestBodyLength(of: response) }

    /// Begins to store a response whose body is yet to come.
    /// - Returns: `nil` when the writer is behind, the disk full, or the body too long: it is not stored then.
    package func beginPending(_ plan: PendingPlan) -> PendingResponse? {
        let isForDisk = core.memory.hasDisk && !plan.response.facts.isMemoryOnly
        // Memory alone keeps nothing in part.
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
        // A purge or an invalidation that comes from here on finds it among the pending responses.
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

    /// Who begins a fetch notes it before the request goes out, and shows it when there is something to store.
    package func moment(of key: [UInt8]) -> StoreEpoch { core.memory.moment(core.memory.hasher.hash(key)) }

    /// Whether what is fetched for this key since then may have been purged or invalidated meanwhile: it is not stored then.
    package func isInvalidated(_ key: [UInt8], since moment: StoreEpoch) -> Bool {
        core.memory.wasInvalidated(core.memory.hasher.hash(key), since: moment)
            || core.purges.mayCover(key: key, since: moment.purge)
    }

    /// Replaces a stored response, whole or in part, by its freshened self (RFC 9111 §4.3.4).
    /// - Parameter since: `moment` when the request went out that the 304 answers; `nil`: now.
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

    /// The 304 forbids the disk what stands there: the row goes, and memory alone keeps the response where it has the body (T45).
    private func takeOffDisk(_ old: StoredResponse, as new: StoredResponse, _ hash: KeyHash, since: StoreEpoch) {
        let core = core
        let removeRow = {
            core.partials.remove(row: old.row)
            core.queue.add(.remove(old, hash), urgent: false)
        }
        if new.isOnDisk { return core.memory.remove(old, hash, enqueue: removeRow) }
        // A row's number of its own, so that nothing queued for the old row concerns it.
        let placed = new.placed(body: new.body, row: core.makeRow())
        core.memory.freshen(old, as: placed, hash, since: since) { _ in removeRow() }
    }

    /// Forgets every response of these keys, those that are on their way included (RFC 9111 §4.4).
    package func invalidate(_ keys: [[UInt8]]) {
        for key in keys {
            let hash = core.memory.hasher.hash(key)
            // Counted first: a body that is not found among those on their way sees it when it begins.
            core.memory.countInvalidation(hash)
            let pendingResponses = core.pendingResponses.all(of: hash).filter { $0.plan.response.key == key }
            for pending in pendingResponses { pending.stopKeeping() }
            core.memory.invalidate(key, hash, isBeingWritten: !pendingResponses.isEmpty) {
                core.queue.add(.invalidate(key: key, hash), urgent: true)
            }
            // Behind it: the writer keeps no part of a key of which a change waits.
            core.partials.remove(key: key)
        }
    }

    /// Forgets one response, whole or in part.
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
