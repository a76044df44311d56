import HTTPCaching
import HTTPMessage
import SQLiteDatabase

/// The marks of purges in the file. A mark stays until everything that its purge covers is deleted.
extension WritingTables {
    func insert(_ purge: Purge) throws(StoreError) {
        guard case .filter(let filter) = purge.target else { return }
        let encoded = filter.encoded
        insertPurge.bind(1, purge.number)
        insertPurge.bind(2, purge.boundary)
        insertPurge.bind(3, purge.time.milliseconds)
        insertPurge.bind(4, purge.isSoft ? 1 : 0)
        insertPurge.bind(5, copying: encoded.span)
        insertPurge.bind(6, purge.checksum(encoded))
        try insertPurge.run()
    }

    func write(_ scan: PurgeScan) throws(StoreError) {
        setPurge.bind(1, scan.work.purge.number)
        setPurge.bind(2, scan.cursor)
        setPurge.bind(3, Int64(scan.count))
        try setPurge.run()
    }

    func delete(_ purge: Purge) throws(StoreError) {
        deletePurge.bind(1, purge.number)
        try deletePurge.run()
    }
}

extension Connection {
    /// The purges that are not complete.
    /// - Throws: an error if one of the purges is unreadable, since responses that it covers could be served again.
    func purges() throws(StoreError) -> [PurgeScan] {
        let query = try prepare("SELECT id, boundary, time, soft, cursor, count, filter, checksum FROM purge ORDER BY id")
        var scans: [PurgeScan] = []
        while try query.step() {
            let encoded = query.bytes(6)
            guard let filter = StoreFilter(encoded: encoded) else {
                throw StoreError(.damaged, path: path, message: "the stored record of a purge cannot be read")
            }
            let purge = Purge(
                number: query.integer(0), boundary: query.integer(1), time: Timestamp(milliseconds: query.integer(2)),
                target: .filter(filter), isSoft: query.integer(3) != 0)
            guard purge.checksum(encoded) == query.integer(7) else {
                throw StoreError(.damaged, path: path, message: "the record of a purge is damaged")
            }
            let work = PurgeWork(purge: purge, inMemoryAlone: 0) { _ in }
            scans.append(PurgeScan(work: work, cursor: query.integer(4), count: Int(query.integer(5))))
        }
        return scans
    }
}

extension Purge {
    fileprivate func checksum(_ filter: [UInt8]) -> Int64 {
        var checksum = Checksum(seed: number)
        checksum.combine(boundary)
        checksum.combine(time.milliseconds)
        checksum.combine(isSoft ? 1 : 0)
        checksum.combine(filter.span)
        return checksum.value
    }
}
