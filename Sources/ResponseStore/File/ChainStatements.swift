import HTTPCaching
import SQLiteDatabase

/// The writer's statements for recorded certificate chains. Each distinct chain has one row, which is deleted with the last response
/// that refers to it.
///
/// The id of a row is reused only when no response refers to it, which the index `response_chain` shows.
final class ChainStatements {
    private let find, insert, mend, delete, isUsed, unused, next: Statement
    /// The total size of the chains in bytes, including the changes of the current transaction.
    private(set) var octets: Int64
    private var committedOctets: Int64
    /// Ids that a response no longer uses, or that may never have been used.
    private var released: Set<Int64> = []

    init(_ connection: Connection) throws(StoreError) {
        find = try connection.prepare("SELECT id, chain, checksum FROM certificate_chain WHERE fingerprint=?")
        insert = try connection.prepare("INSERT INTO certificate_chain VALUES(?,?,?,?)")
        mend = try connection.prepare("UPDATE certificate_chain SET chain=?2, checksum=?3 WHERE id=?1")
        delete = try connection.prepare("DELETE FROM certificate_chain WHERE id=? RETURNING length(chain)")
        isUsed = try connection.prepare("SELECT 1 FROM response INDEXED BY response_chain WHERE chain=? AND chain<>0 LIMIT 1")
        unused = try connection.prepare(
            """
            SELECT id FROM certificate_chain AS c WHERE NOT EXISTS \
            (SELECT 1 FROM response INDEXED BY response_chain WHERE chain=c.id AND chain<>0)
            """)
        next = try connection.prepare("SELECT coalesce(max(id), 0) + 1 FROM certificate_chain")
        octets = try connection.integer("SELECT coalesce(sum(length(chain)), 0) FROM certificate_chain") ?? 0
        committedOctets = octets
    }

    /// The id of a chain's row, which is created if missing and repaired if damaged.
    /// - Returns: 0 if there is no chain, or if all chains together would exceed `StoreLimits.chainOctets` bytes.
    func number(of chain: RecordedChain?) throws(StoreError) -> Int64 {
        guard let chain else { return 0 }
        let digest = chain.digest
        find.bind(1, copying: digest.span)
        if try find.step() {
            let id = find.integer(0)
            let isGood = find.withBytes(1) { $0.elementsEqual(chain.octets) } && find.integer(2) == Self.checksum(of: chain, id)
            let length = find.withBytes(1) { Int64($0.count) }
            find.reset()
            if !isGood { try mend(id, chain, ofLength: length) }
            return id
        }
        find.reset()
        guard octets + Int64(chain.octets.count) <= StoreLimits.chainOctets else { return 0 }
        let id = try newNumber()
        insert.bind(1, id)
        let octets = chain.octets
        insert.bind(2, copying: digest.span)
        insert.bind(3, copying: octets.span)
        insert.bind(4, Self.checksum(of: chain, id))
        try insert.run()
        self.octets += Int64(octets.count)
        released.insert(id)
        return id
    }

    /// Notes that a response no longer refers to this chain.
    func release(_ id: Int64) {
        if id != 0 { released.insert(id) }
    }

    /// Deletes released chains that no response uses. Call it before a commit.
    func sweep() throws(StoreError) {
        for id in released {
            isUsed.bind(1, id)
            let isInUse = try isUsed.step()
            isUsed.reset()
            if !isInUse { try delete(id) }
        }
        released = []
    }

    /// Releases chains that a crash left unused.
    func releaseUnused() throws(StoreError) {
        defer { unused.reset() }
        while try unused.step() { released.insert(unused.integer(0)) }
    }

    func didCommit() { committedOctets = octets }

    func didRollBack() {
        octets = committedOctets
        released = []
    }

    private func delete(_ id: Int64) throws(StoreError) {
        delete.bind(1, id)
        if try delete.step() { octets -= delete.integer(0) }
        delete.reset()
    }

    private func newNumber() throws(StoreError) -> Int64 {
        defer { next.reset() }
        _ = try next.step()
        return next.integer(0)
    }

    private func mend(_ id: Int64, _ chain: RecordedChain, ofLength length: Int64) throws(StoreError) {
        let octets = chain.octets
        mend.bind(1, id)
        mend.bind(2, copying: octets.span)
        mend.bind(3, Self.checksum(of: chain, id))
        try mend.run()
        self.octets += Int64(octets.count) - length
    }

    private static func checksum(of chain: RecordedChain, _ id: Int64) -> Int64 {
        let (digest, octets) = (chain.digest, chain.octets)
        return ChainRow.checksum(id: id, fingerprint: digest.span, octets: octets.span)
    }
}
