import HTTPCaching

/// One reading thread: its connection, and the jobs that it takes from the pool. Confined to that thread.
///
/// Each job is at most one short read transaction, because an open transaction keeps the write-ahead log from being reset.
final class StoreReader {
    private let core: StoreCore
    private var tables: ReadingTables?

    init(_ core: StoreCore) { self.core = core }

    func run() {
        while true {
            switch core.readers.next(hasFileOpen: tables != nil) {
            case .job(let job): perform(job)
            case .closeFile: closeFile()
            case .stop:
                closeFile()
                return
            }
        }
    }

    private func perform(_ job: ReadJob) {
        do {
            let tables = try openTables()
            switch job {
            case .lookUp(let job): try lookUp(job, in: tables)
            case .body(let job): try read(job, in: tables)
            }
        } catch {
            failed(job, error)
        }
    }

    // MARK: Looking up

    private func lookUp(_ job: LookUpJob, in tables: ReadingTables) throws(StoreError) {
        // Other keys of the shard may change meanwhile; a few attempts suffice to find a stable state.
        for _ in 0..<3 {
            guard case .ready(let changes) = core.memory.beginLookUp(job.hash) else { break }
            if core.memory.backingStore != nil {
                let known = core.memory.find(job.key.span)
                if case .unknown = known {} else { return job.answer(LookUpResult(known)) }
            }
            // The purges are read before the rows. The rows of a purge that is already complete are deleted from the file, and a later
            // purge counts as a change.
            let purges = core.memory.backingStore == nil ? core.purges.active : try tables.purgesUnderWay()
            var found = try tables.responses(
                ofKey: job.key, job.hash, bodyLimit: core.configuration.memoryBodyLimit,
                sealing: core.memory.backingStore != nil)
            if !purges.isEmpty { found.responses = found.responses.compactMap(purges.left) }
            // The bodies are held before `endLookUp`, which fails if a row was deleted meanwhile. After that, a body cannot be deleted
            // before its response is released.
            if core.memory.backingStore == nil { found.responses = found.responses.map(core.holds.held) }
            for row in found.badRows { reportDamage(row) }
            let variants = variants(found)
            if let answer = core.memory.endLookUp(job.key, job.hash, startedAt: changes, found: variants) {
                noteUse(of: variants, lastAccess: found.lastAccess)
                job.answer(LookUpResult(answer))
                return
            }
        }
        wait(job)
    }

    private func variants(_ found: ReadingTables.Found) -> StoredVariants? {
        let responses = found.responses.sorted { $0.isNewer(than: $1) }
        // The response's key is used, not the caller's array: an exchange reuses that array, which may be far larger than the key.
        guard let key = responses.first?.key else { return nil }
        return StoredVariants(
            key: key, responses: responses, isComplete: true, now: core.memory.now, recordedAccess: core.memory.now)
    }

    /// Tries again after the waiting change to the key has been written.
    private func wait(_ job: LookUpJob) {
        var job = job
        job.attempts += 1
        if job.attempts > 3 {
            job.answer(.unavailable)
        } else {
            core.queue.add(.lookUp(job), urgent: true)
        }
    }

    private func noteUse(of variants: StoredVariants?, lastAccess: Int64) {
        guard let variants, core.memory.hasDisk else { return }
        let now = Clock.seconds()
        guard now - lastAccess >= Int64(StoreCore.accessInterval) else { return }
        core.queue.add(.accessed(variants.responses.map(\.row), at: now), urgent: false)
    }

    // MARK: Bodies

    private func read(_ job: BodyReadJob, in tables: ReadingTables) throws(StoreError) {
        guard job.offset < job.body.length else {
            job.answer(.bytes([], 0..<0))
            return
        }
        guard job.body.seal != 0 else { return try readPiece(job, in: tables) }
        let isThere = try tables.whileSealed(job.body) { () throws(StoreError) in try readPiece(job, in: tables) }
        if !isThere { job.answer(.failed) }
    }

    private func readPiece(_ job: BodyReadJob, in tables: ReadingTables) throws(StoreError) {
        if job.body.id < 0 {
            switch try tables.piece(ofExtents: job.body, at: job.offset) {
            case .bytes(let bytes, let range): return job.answer(.bytes(bytes, range))
            // Missing bytes are not always damage: the transfer that should complete a partial response may have been
            // interrupted. The writer checks that.
            case .missing: reportDamage(0 &- job.body.id, .hole(at: job.offset))
            case .damaged: reportDamage(0 &- job.body.id, .body(job.body.id))
            }
            return job.answer(.failed)
        }
        let number = Int(job.offset / UInt64(Chunk.length))
        let start = UInt64(number) * UInt64(Chunk.length)
        let expected = Int(min(UInt64(Chunk.length), job.body.length - start))
        guard let bytes = try tables.chunk(number, ofBody: job.body.id), bytes.count >= expected else {
            reportDamage(job.body.id, .body(job.body.id))
            job.answer(.failed)
            return
        }
        job.answer(.bytes(bytes, Int(job.offset - start)..<expected))
    }

    // MARK: The file

    private func openTables() throws(StoreError) -> ReadingTables {
        if let tables { return tables }
        guard let file = core.file, core.readers.mayOpen() else {
            throw StoreError(.busy, path: core.configuration.path, message: "the file is being replaced")
        }
        do {
            let opened = try ReadingTables(try core.connectReader(to: file), core.chains)
            tables = opened
            return opened
        } catch {
            core.readers.didClose()
            throw error
        }
    }

    private func closeFile() {
        guard tables != nil else { return }
        tables = nil
        core.readers.didClose()
    }

    private func failed(_ job: ReadJob, _ error: StoreError) {
        if error.code == .damaged, let backing = core.memory.backingStore {
            backing.leave(because: error.message)
        } else if error.code == .damaged {
            core.queue.add(
                .fileIsDamaged(generation: core.fileGeneration.load(ordering: .acquiring), reason: error.message), urgent: true)
        }
        switch job {
        case .lookUp(let job): job.answer(.unavailable)
        case .body(let job): job.answer(.failed)
        }
    }

    private func reportDamage(_ row: StoredRowID, _ damage: RowDamage = .row) {
        core.queue.add(.dropDamaged(row, damage), urgent: false)
    }
}

extension LookUpResult {
    init(_ answer: MemoryAnswer) {
        switch answer {
        case .found(let variants): self = .found(variants)
        case .absent: self = .absent
        case .unknown: self = .unavailable
        }
    }
}
