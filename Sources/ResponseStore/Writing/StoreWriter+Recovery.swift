import HTTPCaching

/// How the writer handles a damaged file or a full disk.
extension StoreWriter {
    // MARK: A damaged file

    /// Moves the file aside and continues with a new one.
    func replaceFile(reason: String) {
        core.counters.damagedFiles.wrappingAdd(1, ordering: .relaxed)
        closeEverywhere()
        do {
            core.configuration.report(.movedAside(to: try file.moveAside(), reason: reason))
        } catch {
            // Another file has the store's name now, or the file cannot be renamed. Nothing is stored until no file has this
            // name, or a store has it again.
            notices.tell(.writeFailed(error.message), kind: .writeFailed)
        }
        beginAgain()
    }

    /// Closes all connections; none is opened until `beginAgain`.
    private func closeEverywhere() {
        core.readers.suspend()
        core.browsers.suspend()
        core.checkpointer.suspend()
        // The old file's connection must neither write its log into a new file nor delete the new file's log.
        tables?.connection.leaveLogOnClose()
        tables = nil
    }

    /// Responses in memory stay, except for those with bodies in the file. The set of keys stays too: from now on it may cause
    /// unnecessary lookups on disk, but never omits a necessary one.
    private func beginAgain() {
        core.fileGeneration.wrappingAdd(1, ordering: .releasing)
        dropping = RingBuffer()
        droppingChunks = 0
        isLogLong = false
        lastLogLength = 0
        core.queue.noteLog(length: 0)
        hasTidiedUp = true
        endPurges()
        for operation in mustHappen { operation.keyHash.map { core.memory.settle($0) } }
        mustHappen = []
        for pending in core.pendingResponses.all { pending.fileIsGone() }
        core.memory.forgetDisk()
        core.partials.removeAll()
        notedPartials = []
        openFresh()
        declareKeysComplete()
        publishTotals()
        core.checkpointer.resume()
        core.readers.resume()
        core.browsers.resume()
    }

    private func openFresh() {
        do {
            let report = core.configuration.report
            tables = try WritingTables(
                try file.openForWriting(secret: core.memory.hasher.secret) { event in
                    if case .movedAside(let path, let reason) = event { report(.movedAside(to: path, reason: reason)) }
                }, core.chains)
        } catch {
            notices.tell(.writeFailed(error.message), kind: .writeFailed)
        }
    }

    /// Tries again, at intervals, to open a file. Until a file is open, nothing is stored.
    func reopen(now: Int64) {
        guard now - lastReopening >= 10_000 else { return }
        lastReopening = now
        openFresh()
    }

    // MARK: A file that is worked on by hand

    /// Abandons operations that cannot be written, and reports that to the caller. The mark of a purge that is in effect stays in the
    /// file.
    func giveUpPurges(_ error: StoreError) {
        // The reserved space is for this case: deleting is most needed on a full disk.
        if error.code == .diskFull, room.reservedSpace.remove() { return }
        notices.tell(.writeFailed(error.message), kind: .writeFailed)
        interruptPurges()
    }

    // MARK: A full disk

    /// Evicts a part of the store, frees its disk space, and accepts responses again.
    func makeRoom() {
        room.reservedSpace.remove()
        let attempts = room.attempts
        while room.attempts == attempts, totals.bytes > room.marks.low, evictForRoom() {}
        while room.attempts == attempts, deleteChunkSlice() {}
        guard room.attempts == attempts else {
            if room.attempts >= DiskRoom.attemptLimit { emptyFile() }
            return
        }
        giveRoomBack()
        room.didMakeRoom(now: Clock.monotonicMilliseconds())
        room.reservedSpace.make()
        core.queue.refusesNew.store(false, ordering: .relaxed)
    }

    private func evictForRoom() -> Bool {
        guard begin(), let tables else { return false }
        do {
            var evicted = 0
            for row in try tables.oldest(64) {
                try delete(row, forgetting: true)
                evicted += 1
            }
            try commit()
            core.counters.evicted.wrappingAdd(evicted, ordering: .relaxed)
            core.checkpointer.requestAndWait(atMost: 1000)
            return evicted > 0
        } catch {
            fail(error)
            return false
        }
    }

    /// Shortens the file by the freed pages, in steps that fit into the log, and then truncates the log.
    private func giveRoomBack() {
        guard let connection = tables?.connection else { return }
        do {
            for _ in 0..<DiskRoom.vacuumSteps {
                try connection.execute("PRAGMA incremental_vacuum(512)")
                try connection.checkpoint(.truncate)
            }
        } catch {
            // If pages cannot be released, the store itself will still reuse them, so that error is ignored. Damage must not be
            // ignored.
            if error.code == .damaged { failReading(error) }
        }
    }

    /// Deletes the whole file, because not even deleting rows is possible.
    private func emptyFile() {
        closeEverywhere()
        file.removeFiles()
        room.didMakeRoom(now: Clock.monotonicMilliseconds())
        beginAgain()
        core.queue.refusesNew.store(false, ordering: .relaxed)
    }
}
