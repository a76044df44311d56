import HTTPCaching

/// The writing thread: takes operations from the queue and writes them in transactions. In between it evicts, deletes and maintains the
/// set of keys. Confined to that thread.
final class StoreWriter {
    let core: StoreCore
    let file: StoreFile
    /// The tables of the open file; `nil` while no file can be opened, and then nothing is stored.
    var tables: WritingTables?
    var transaction = Transaction()
    var row = ResponseRow()
    var room: DiskRoom
    var notices: NoticeLimiter
    /// Deletions that a failed transaction rolled back: tried again before anything else.
    var mustHappen: [WriterOperation] = []
    var dropping = RingBuffer<DroppedBody>()
    /// The number of chunks of the bodies in `dropping` that are not deleted yet.
    var droppingChunks = 0
    /// The length of the log after the latest commit.
    var lastLogLength = 0
    /// Whether bodies being stored, evictions and purges wait until the log is restarted.
    var isLogLong = false
    /// When to request the next checkpoint if the last one could not empty a long log.
    var nextCheckpoint: Int64 = 0
    var postponed: [PendingResponse] = []
    /// Rows of partial responses that the previous process left. Memory has noted the keys of these rows.
    var notedPartials: Set<StoredRowID> = []
    /// Rows that the previous process left unfinished have ids below this id.
    let firstRow: StoredRowID
    var hasTidiedUp = false
    var tidiedUpTo: StoredRowID = 0
    var keyCursor: WritingTables.KeyCursor? = WritingTables.KeyCursor()
    var isEvicting = false
    /// Purges whose marks are in the file, oldest first.
    var purging: [PurgeScan]
    /// The earliest time of the next attempt after a failure.
    var nextPurge: Int64 = 0
    var hand = ClockHand()
    let start = Clock.monotonicMilliseconds()
    var lastAccessSweep: Int64 = 0
    var lastReopening: Int64 = 0

    private init(_ core: StoreCore, _ file: StoreFile, _ opened: Opened) {
        self.core = core
        self.file = file
        tables = opened.tables
        firstRow = opened.nextRow
        purging = opened.purges
        core.purges.restore(opened.purges.map(\.work.purge))
        room = DiskRoom(core.configuration)
        notices = NoticeLimiter(core.configuration.report)
    }

    /// Opens the file and passes the core to the waiting thread.
    static func open(
        _ configuration: StoreConfiguration, secret: [UInt8], _ opening: Monitor<Result<StoreCore, StoreError>?>
    ) -> StoreWriter? {
        let file = StoreFile(path: configuration.path, role: configuration.role)
        do {
            let chains = ChainDirectory()
            let opened = try openTables(file, secret: secret, chains, configuration)
            let core = StoreCore(configuration, secret: opened.secret, nextRow: opened.nextRow, chains: chains)
            let writer = StoreWriter(core, file, opened)
            if file.role == .cache { writer.room.reservedSpace.make() }
            writer.publishTotals()
            writer.tidyUpAtOpening()
            opening.withLock { $0 = .success(core) }
            opening.wake()
            return writer
        } catch {
            opening.withLock { $0 = .failure(error) }
            opening.wake()
            return nil
        }
    }

    struct Opened {
        var tables: WritingTables
        var secret: [UInt8]
        var nextRow: StoredRowID
        var purges: [PurgeScan]
    }

    /// Opens the file. Moves a damaged file of a cache aside, and opens a new one.
    static func openTables(
        _ file: StoreFile, secret: [UInt8], _ chains: ChainDirectory, _ configuration: StoreConfiguration
    ) throws(StoreError) -> Opened {
        let report = configuration.report
        do {
            return try openTablesOnce(file, secret: secret, chains, report)
        } catch  where error.code == .damaged && file.role == .cache {
            report(.movedAside(to: try file.moveAside(), reason: error.message))
            return try openTablesOnce(file, secret: secret, chains, report)
        }
    }

    private static func openTablesOnce(
        _ file: StoreFile, secret: [UInt8], _ chains: ChainDirectory, _ report: (StoreNotice) -> Void
    ) throws(StoreError) -> Opened {
        let connection = try file.openForWriting(secret: secret) { event in
            switch event {
            case .emptied(let version): report(.emptied(version: version))
            case .movedAside(let path, let reason): report(.movedAside(to: path, reason: reason))
            }
        }
        let tables = try WritingTables(connection, chains)
        if tables.haveBeenCounted { report(.recounted(entries: tables.totals.entries, bytes: tables.totals.bytes)) }
        return Opened(
            tables: tables, secret: try Schema.secret(of: connection), nextRow: try tables.nextID(),
            purges: try connection.purges())
    }

    // MARK: The loop

    func run() {
        while true {
            switch core.queue.next(waitingAtMost: hasUpkeep ? 0 : 1000) {
            case .work(let operations): perform(operations)
            case .quiet: if !hasUpkeep { tables?.connection.releaseMemory() }
            case .stopping(let operations):
                perform(operations)
                for pending in core.pendingResponses.all { end(pending, nil) }
                interruptPurges()
                tables = nil
                return
            }
            keepUp()
        }
    }

    func perform(_ operations: [WriterOperation]) {
        if !mustHappen.isEmpty {
            let again = mustHappen
            mustHappen = []
            write(again)
        }
        write(operations)
    }

    /// Writes operations in as many transactions as their size requires.
    func write(_ operations: [WriterOperation]) {
        var index = 0
        while index < operations.count {
            guard begin() else {
                for operation in operations[index...] { giveUp(operation) }
                return
            }
            do {
                while index < operations.count, transaction.byteCount < StoreWriter.transactionBytes,
                    transaction.operationCount < StoreWriter.transactionOperations
                {
                    transaction.operationCount += 1
                    // Incremented before the attempt: after a failure, of the operation or of the commit, continue with the first
                    // operation not tried yet.
                    index += 1
                    try apply(operations[index - 1])
                }
                try commit()
            } catch {
                // The failed operation and those before it in this transaction are abandoned; later ones are tried.
                fail(error)
            }
        }
    }

    private static let transactionBytes = 4 << 20
    /// Each operation may write one page in every index: at most 64 MiB of log.
    private static let transactionOperations = 2048

    // MARK: Transactions

    func begin() -> Bool {
        transaction = Transaction()
        guard let tables else { return false }
        do {
            try waitForLog()
            try tables.beginTransaction()
            return true
        } catch {
            fail(error)
            return false
        }
    }

    func commit() throws(StoreError) {
        guard let tables else { return }
        try tables.chains.sweep()
        if try tables.writeTotals() {
            notices.tell(.recounted(entries: totals.entries, bytes: totals.bytes), kind: .recounted)
        }
        // Memory notes the keys before the rows become visible, so that a key is never wrongly absent.
        for hash in transaction.expected { core.memory.expect(hash) }
        do {
            try tables.commitTransaction()
        } catch {
            for hash in transaction.expected { core.memory.rowIsGone(hash) }
            transaction.expected = []
            throw error
        }
        didCommit()
    }

    private func didCommit() {
        let done = transaction
        transaction = Transaction()
        publishTotals()
        // The queue is updated before callers are notified, who may then add more.
        core.queue.didWrite(done.work, log: measureLog())
        for hash in done.gone { core.memory.rowIsGone(hash) }
        for (row, hash) in done.dropped { core.memory.drop(row: row, hash) }
        for (row, hash) in done.long { core.memory.leaveToDisk(row: row, hash, core.holds) }
        for hash in done.settled { core.memory.settle(hash) }
        for operation in done.mustHappen { operation.keyHash.map { core.memory.settle($0) } }
        for body in done.dropping {
            dropping.append(body)
            droppingChunks += body.count
        }
        for change in done.partials {
            switch change {
            case .kept(let partial, let hash):
                core.partials.keep(partial)
                // If a change to the key is waiting, it may invalidate this partial response, so the partial response is removed.
                // A change that is queued later removes the partial response itself.
                if core.memory.isWaiting(hash) { core.partials.remove(row: partial.response.row) }
            case .gone(let row): core.partials.remove(row: row)
            }
        }
        for (scan, isDone) in done.purges { didBegin(scan, isDone: isDone) }
        for (pending, run) in done.runs { pending.didCommit(run) }
        for (pending, response, isPart) in done.ended { end(pending, response, isPart: isPart) }
        core.unstored.note(.superseded, count: done.supersededCount)
        core.counters.stored.wrappingAdd(done.storedCount, ordering: .relaxed)
        core.counters.partials.wrappingAdd(done.partialCount, ordering: .relaxed)
        for job in done.lookUps { forward(job) }
        keepLogShort()
    }

    private func end(_ pending: PendingResponse, _ response: StoredResponse?, isPart: Bool = false) {
        core.pendingResponses.remove(pending)
        if let response {
            core.memory.promote(response, pending.keyHash, since: pending.since)
            pending.didEnd(.stored(response))
        } else {
            pending.didEnd(.notStored, isCounted: isPart)
        }
    }

    func forward(_ job: LookUpJob) {
        // If a deletion for the key could not be written yet, the file's responses for the key must not be served.
        let isUnsettled = mustHappen.contains { $0.keyHash == job.hash }
        if isUnsettled || !core.readers.add(.lookUp(job)) { job.answer(.unavailable) }
    }

    /// Rolls back a failed transaction, and corrects what memory and the pending responses have noted because of it.
    func fail(_ error: StoreError) {
        tables?.rollBack()
        let failed = transaction
        transaction = Transaction()
        core.counters.notStored.wrappingAdd(failed.storedCount, ordering: .relaxed)
        core.unstored.note(.writeFailed, count: failed.unwritten.count)
        for operation in failed.mustHappen { putOff(operation) }
        for hash in failed.unwritten { core.memory.rowIsGone(hash) }
        for hash in failed.settled { core.memory.settle(hash) }
        for pending in failed.pendingResponses {
            pending.stopStoring(because: .writeFailed)
            // The row of the pending response could not be deleted; the next process will delete it.
            if pending.isDiscarded { end(pending, nil) }
        }
        for job in failed.lookUps { forward(job) }
        judge(error)
    }

    func giveUp(_ operation: WriterOperation) {
        switch operation {
        case .store(_, let hash):
            core.memory.rowIsGone(hash)
            core.memory.settle(hash)
            core.counters.notStored.wrappingAdd(1, ordering: .relaxed)
            core.unstored.note(.writeFailed)
        case .freshen(_, let hash): core.memory.settle(hash)
        case .purge(let work) where file.role == .kept: work.report(.interrupted)
        case .remove, .displace, .invalidate, .purge: putOff(operation)
        case .pending(let pending):
            pending.giveUpStoring()
            while let work = pending.takeWork() { pending.endUnstored(work) }
        case .lookUp(let job): forward(job)
        case .accessed, .dropDamaged, .fileIsDamaged, .limitPages: break
        }
    }

    /// Keeps deletions to try them again; of several operations that displace the same response, keeps only the last.
    private func putOff(_ operation: WriterOperation) {
        if case .displace(let response, let hash) = operation {
            let older = mustHappen.firstIndex {
                if case .displace(let other, hash) = $0 { other.nominatedFields == response.nominatedFields } else { false }
            }
            if let older {
                mustHappen.remove(at: older)
                core.memory.settle(hash)
            }
        }
        mustHappen.append(operation)
    }

    private func judge(_ error: StoreError) {
        if file.role == .kept { return giveUpPurges(error) }
        switch error.code {
        case .damaged: replaceFile(reason: error.message)
        case .diskFull:
            notices.tell(.diskFull(error.message), kind: .diskFull)
            room.diskIsFull(totals)
            core.queue.refusesNew.store(true, ordering: .relaxed)
        default: notices.tell(.writeFailed(error.message), kind: .writeFailed)
        }
    }

    /// The number of entries and bytes in the file.
    var totals: Totals { tables?.totals ?? Totals() }

    func publishTotals() {
        core.counters.entries.store(Int(totals.entries), ordering: .relaxed)
        core.counters.bytes.store(Int(totals.bytes), ordering: .relaxed)
    }
}

extension WriterOperation {
    /// The key that a deletion concerns.
    var keyHash: KeyHash? {
        switch self {
        case .remove(_, let hash), .displace(_, let hash), .invalidate(_, let hash): hash
        default: nil
        }
    }
}
