import HTTPCaching
import SQLiteDatabase

/// A check of everything in a store's file: each checksum, each row's entry in the index by key, and each entry's row.
///
/// It continues from call to call of `StoreBrowser.verify`; nothing stays open in between.
package struct StoreVerification: Sendable {
    package enum Fault: Sendable, Equatable {
        /// The row is corrupt.
        case row(StoredRowID)
        /// The row's body is corrupt; `chunk` is the number of the chunk if there are several.
        case body(StoredRowID, chunk: Int?)
        /// The index by key does not lead to the row.
        case notInIndex(StoredRowID)
        /// The index by key leads to a missing row or to a row of another key.
        case strayIndex(StoredRowID)
        /// The certificate chain in this row is corrupt: its responses are treated as if they had no recorded chain.
        case chain(Int64)
        /// The totals are not the sum of the rows.
        case totals
        /// An error that SQLite reports for the file.
        case database(String)
    }

    enum Phase {
        case rows, index, chains, whole, done

        func next(isAlone: Bool) -> Phase {
            switch self {
            case .rows: .index
            case .index: .chains
            case .chains: isAlone ? .whole : .done
            case .whole, .done: .done
            }
        }
    }

    /// Whether no process writes the file meanwhile, so that the totals can be compared and the whole file checked at once.
    package let isAlone: Bool
    package internal(set) var rows = 0
    package internal(set) var chunks = 0
    package internal(set) var bytes: UInt64 = 0
    /// The first hundred faults; `faultCount` counts all.
    package internal(set) var faults: [Fault] = []
    package internal(set) var faultCount = 0
    var phase = Phase.rows
    var after: StoredRowID = 0
    /// The row's body is verified up to this chunk.
    var chunk = 0
    var cursor = WritingTables.KeyCursor()

    package init(isAlone: Bool) { self.isAlone = isAlone }

    /// A check that is already finished because the file cannot be opened.
    package init(damaged error: StoreError) {
        isAlone = true
        phase = .done
        note(.database(error.message))
    }

    package var isAtEnd: Bool { phase == .done }

    mutating func note(_ fault: Fault) {
        faultCount += 1
        if faults.count < 100 { faults.append(fault) }
    }
}

extension StoreBrowser {
    /// Continues the check for some milliseconds. If SQLite reports damage, the method notes a fault, and the next phase begins.
    package func verify(_ verification: inout StoreVerification) throws(StoreError) {
        do {
            switch verification.phase {
            case .rows: try verifyRows(&verification)
            case .index: try verifyIndex(&verification)
            case .chains: try verifyChains(&verification)
            case .whole: try verifyWhole(&verification)
            case .done: break
            }
        } catch  where error.code == .damaged {
            verification.note(.database(error.message))
            verification.phase = verification.phase.next(isAlone: verification.isAlone)
        }
    }

    private func verifyRows(_ verification: inout StoreVerification) throws(StoreError) {
        let deadline = Clock.monotonicMilliseconds() + StorePage.milliseconds
        let place = try connection.prepare(
            "SELECT id FROM response INDEXED BY response_selection WHERE key_hash=? AND variant=? AND generation=?")
        let inlineBody = try connection.prepare("SELECT body FROM response WHERE id=?")
        var isCut = false
        try pages.read(after: verification.after, before: .max, limit: .max) { (found) throws(StoreError) in
            if verification.chunk == 0 { try verifyRow(found, place, inlineBody, &verification) }
            let row = found.row
            let places = try found.entry == nil ? [] : chunks(of: row)
            if places == nil { verification.note(.body(row.id, chunk: nil)) }
            let count = places?.count ?? 0
            while verification.chunk < count, !isCut {
                if let place = places?[verification.chunk], try !hasChunk(place.number, ofBody: place.body) {
                    verification.note(.body(row.id, chunk: verification.chunk))
                }
                verification.chunk += 1
                verification.chunks += 1
                isCut = Clock.monotonicMilliseconds() >= deadline
            }
            if verification.chunk >= count {
                verification.after = row.id
                verification.chunk = 0
            }
            isCut = isCut || Clock.monotonicMilliseconds() >= deadline
            return !isCut
        }
        if !isCut { verification.phase = verification.phase.next(isAlone: verification.isAlone) }
    }

    private func verifyRow(
        _ found: RowPages.Found, _ place: Statement, _ inlineBody: Statement, _ verification: inout StoreVerification
    ) throws(StoreError) {
        let row = found.row
        verification.rows += 1
        verification.bytes = verification.bytes.addingUpToMax(found.storedLength)
        guard found.entry != nil, hash(row.key) == row.keyHash else { return verification.note(.row(row.id)) }
        row.keyHash.withBytes { place.bind(1, copying: $0) }
        place.bind(2, row.variant)
        place.bind(3, row.generation)
        if try !place.step() || place.integer(0) != row.id { verification.note(.notInIndex(row.id)) }
        place.reset()
        guard row.bodyID == 0 else { return }
        inlineBody.bind(1, row.id)
        defer { inlineBody.reset() }
        let isGood =
            try inlineBody.step()
            && inlineBody.withBytes(0) { bytes in
                bytes.count == row.bodyLength && Checksum.of(bytes, seed: row.id) == row.bodyChecksum
            }
        if !isGood { verification.note(.body(row.id, chunk: nil)) }
    }

    private func verifyIndex(_ verification: inout StoreVerification) throws(StoreError) {
        let places = try connection.prepare(
            """
            SELECT i.key_hash, i.variant, i.generation, i.id, r.key_hash, r.variant, r.generation \
            FROM (SELECT key_hash, variant, generation, id FROM response INDEXED BY response_selection \
            WHERE (key_hash, variant, generation) > (?,?,?) ORDER BY key_hash, variant, generation LIMIT 1024) AS i \
            LEFT JOIN response AS r NOT INDEXED ON r.id = i.id
            """)
        verification.cursor.hash.withBytes { places.bind(1, copying: $0) }
        places.bind(2, verification.cursor.variant)
        places.bind(3, verification.cursor.generation)
        var count = 0
        while try places.step() {
            count += 1
            guard let hash = places.withBytes(0, { KeyHash($0) }) else { break }
            let cursor = WritingTables.KeyCursor(hash: hash, variant: places.integer(1), generation: places.integer(2))
            verification.cursor = cursor
            let isSame =
                places.withBytes(4, { KeyHash($0) }) == hash && places.integer(5) == cursor.variant
                && places.integer(6) == cursor.generation
            if !isSame { verification.note(.strayIndex(places.integer(3))) }
        }
        places.reset()
        if count < 1024 { verification.phase = verification.phase.next(isAlone: verification.isAlone) }
    }

    /// Verifies all chains in one step: together they have at most `StoreLimits.chainOctets` bytes.
    private func verifyChains(_ verification: inout StoreVerification) throws(StoreError) {
        let chains = try connection.prepare("SELECT id, fingerprint, chain, checksum FROM certificate_chain")
        while try chains.step() {
            let id = chains.integer(0)
            let (fingerprint, octets) = (chains.bytes(1), chains.bytes(2))
            let checksum = ChainRow.checksum(id: id, fingerprint: fingerprint.span, octets: octets.span)
            if checksum != chains.integer(3) { verification.note(.chain(id)) }
        }
        verification.phase = verification.phase.next(isAlone: verification.isAlone)
    }

    /// Uses one long transaction. If a process wrote the file meanwhile, the transaction would keep that process from resetting its log.
    private func verifyWhole(_ verification: inout StoreVerification) throws(StoreError) {
        if try Totals(of: connection) != Totals(counting: connection) { verification.note(.totals) }
        let check = try connection.prepare("PRAGMA quick_check(100)")
        while try check.step() {
            let text = check.text(0)
            if text != "ok" { verification.note(.database(text)) }
        }
        verification.phase = .done
    }
}
