import HTTPCaching

/// What the writer does when the file is damaged or the disk is full.
extension StoreWriter {
    // MARK: A damaged file

    /// Moves the file aside and goes on with a fresh one.
    func replaceFile(reason: String) {
        core.counters.damagedFiles.wrappingAdd(1, ordering: .relaxed)
        closeEverywhere()
        do {
            core.configuration.report(.movedAside(to: try file.moveAside(), reason: reason))
        } catch {
            // Another file has its name by now, or it cannot be renamed: nothing is stored until the path is free or a store again.
            notices.tell(.writeFailed(error.message), kind: .writeFailed)
        }
        beginAgain()
    }

    /// No connection is open after this, and none is opened until `beginAgain`.
    private func closeEverywhere() {
        core.readers.suspend()
        core.browsers.suspend()
        core.checkpointer.suspend()
        // What stands in the old file's log must not be written to, or delete, a new file's.
        tables?.connection.leaveLogOnClose()
        tables = nil
    }

    /// Responses in memory stay, but for bodies that stood in the file. So does the set of keys: it may say too often from now on that the
    /// disk has to be asked, never too rarely.
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

    /// Without a file nothing is stored; now and then another try is made.
    func reopen(now: Int64) {
        guard now - lastReopening >= 10_000 else { return }
        lastReopening = now
        openFresh()
    }

    // MARK: A file that is worked on by hand

    /// What cannot be written is not done, and who asked for it is told. The mark of a purge that is in effect stays in the file.
    func giveUpPurges(_ error: StoreError) {
        // The room that was kept for this: a full disk is when deleting is wanted.
        if error.code == .diskFull, room.reservedSpace.remove() { return }
        notices.tell(.writeFailed(error.message), kind: .writeFailed)
        interruptPurges()
    }

    // MARK: A full disk

    /// Evicts some of the store, gives its room back to the disk, and lets responses in again.
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

    /// Makes the file shorter by what was freed, in steps that the log has room for, and then the log.
    private func giveRoomBack() {
        guard let connection = tables?.connection else { return }
        do {
            for _ in 0..<DiskRoom.vacuumSteps {
                try connection.execute("PRAGMA incremental_vacuum(512)")
                try connection.checkpoint(.truncate)
            }
        } catch {
            // What cannot be given back can still be used again by the store itself. Damage must not be passed over.
            if error.code == .damaged { failReading(error) }
        }
    }

    /// Not even deleting is possible: the whole file goes.
    private func emptyFile() {
        closeEverywhere()
        file.removeFiles()
        room.didMakeRoom(now: Clock.monotonicMilliseconds())
        beginAgain()
        core.queue.refusesNew.store(false, ordering: .relaxed)
    }
}
