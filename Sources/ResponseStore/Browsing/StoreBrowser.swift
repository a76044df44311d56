import HTTPCaching
import HTTPMessage
import SQLiteDatabase

/// A job for the browsing thread. It receives a browser, or `nil` if the store cannot be browsed.
package typealias BrowseJob = @Sendable (StoreBrowser?) -> Void

/// Reads a store's file for listings: lists it, shows single responses and their bodies, and verifies it. Changes nothing.
///
/// Each call is one read transaction. Confined to one thread.
package final class StoreBrowser {
    let connection: Connection
    let pages: RowPages
    private let tables: ReadingTables
    private let hasher: KeyHasher
    /// The purges whose deletions are not complete.
    private let purges: () -> [Purge]
    /// Keeps bodies of the running store on disk while they are read; `nil` for a file that no process has open.
    private let holds: BodyHolds?

    /// Opens the file of a store that need not be running. Nothing in it is changed, created or moved.
    package convenience init(path: String) throws(StoreError) {
        let connection = try StoreFile(path: path, role: .cache).connect(.browsing)
        try Schema.expectCurrent(on: connection)
        let left = try connection.purges().map(\.work.purge)
        try self.init(connection, hasher: KeyHasher(secret: try Schema.secret(of: connection)), ChainDirectory()) { left }
    }

    init(
        _ connection: Connection, hasher: KeyHasher, _ chains: ChainDirectory, holds: BodyHolds? = nil,
        purges: @escaping () -> [Purge]
    ) throws(StoreError) {
        self.holds = holds
        self.connection = connection
        self.hasher = hasher
        self.purges = purges
        pages = try RowPages(connection)
        tables = try ReadingTables(connection, chains)
    }

    /// The next entries of a listing.
    package func page(_ listing: StoreListing) throws(StoreError) -> StorePage {
        var page = StorePage(next: listing)
        let deadline = Clock.monotonicMilliseconds() + StorePage.milliseconds
        // The purges are read before the rows, as in lookups: if a purge completes in between, its rows are already deleted.
        let purges = purges()
        var seen = 0
        var isCut = false
        try pages.read(after: listing.after, before: listing.end, limit: StorePage.rowLimit) { found in
            seen += 1
            page.next?.after = found.row.id
            if let entry = found.entry.flatMap({ purges.left(of: $0, requestTime: found.row.requestTime) }),
                listing.filter.matches(entry, at: listing.time)
            {
                page.entries.append(entry)
            }
            // The clock is read once for 64 rows, because reading it costs more than reading a row.
            isCut = page.entries.count >= StorePage.entryLimit || seen % 64 == 0 && Clock.monotonicMilliseconds() >= deadline
            return !isCut
        }
        if !isCut, seen < StorePage.rowLimit { page.next = nil }
        return page
    }

    /// The complete responses of a URL, newest first; bodies in chunks are not read.
    package func responses(of url: URLPattern) throws(StoreError) -> [StoredResponse] {
        try url.exactKey.map { (key) throws(StoreError) in try responses(ofKey: key) } ?? []
    }

    /// The partial responses under a key.
    package func partials(ofKey key: [UInt8]) throws(StoreError) -> [PartialResponse] {
        try held(\.response) { () throws(StoreError) in
            let purges = purges()
            return try tables.partials(ofKey: key, hasher.hash(key)).filter { purges.left(of: $0.response) === $0.response }
        } by: {
            PartialResponse($1.held($0.response), extents: $0.extents)
        }
    }

    /// The complete response in this row.
    package func response(inRow row: StoredRowID) throws(StoreError) -> StoredResponse? {
        guard let key = try key(inRow: row) else { return nil }
        return try responses(ofKey: key).first { $0.row == row }
    }

    /// The key of the complete or partial response in this row.
    package func key(inRow row: StoredRowID) throws(StoreError) -> [UInt8]? {
        // Row ids start at 1, but callers may pass any number.
        guard row > 0, row < .max else { return nil }
        var key: [UInt8]?
        try pages.read(after: row - 1, before: row + 1, limit: 1) { found in
            key = found.row.key
            return false
        }
        return key
    }

    /// The piece of a body that starts at the offset, verified; `nil` if it is missing or corrupt.
    package func piece(of body: BodyReference, at offset: UInt64) throws(StoreError) -> ArraySlice<UInt8>? {
        if body.id < 0 {
            guard case .bytes(let bytes, let range) = try tables.piece(ofExtents: body, at: offset) else { return nil }
            return bytes[range]
        }
        let number = Int(offset / UInt64(Chunk.length))
        let start = UInt64(number) * UInt64(Chunk.length)
        guard let bytes = try tables.chunk(number, ofBody: body.id) else { return nil }
        let end = Int(min(UInt64(bytes.count), body.length - start))
        return Int(offset - start) < end ? bytes[Int(offset - start)..<end] : nil
    }

    /// Whether the chunk exists and is intact.
    func hasChunk(_ number: Int, ofBody body: Int64) throws(StoreError) -> Bool { try tables.chunk(number, ofBody: body) != nil }

    /// The chunks of a row's body, each with the id of its body.
    /// - Returns: `nil` if its extents are corrupt, or do not cover a complete response.
    func chunks(of row: ResponseRow) throws(StoreError) -> [(body: Int64, number: Int)]? {
        if row.bodyID == 0 { return [] }
        if row.bodyID > 0 { return (0..<Chunk.count(forLength: UInt64(max(row.bodyLength, 0)))).map { (row.bodyID, $0) } }
        guard let extents = try tables.extents(ofRow: row.id) else { return nil }
        if row.state == .complete, !extents.covers(UInt64(max(row.bodyLength, 0))) { return nil }
        return extents.rows.flatMap { extent in (0..<Chunk.count(forLength: extent.length)).map { (extent.id, $0) } }
    }

    func chain(_ number: Int64) throws(StoreError) -> RecordedChain? { try tables.chain(number) }

    func hash(_ key: [UInt8]) -> KeyHash { hasher.hash(key) }

    /// The complete responses under a key, newest first; bodies in chunks are not read.
    package func responses(ofKey key: [UInt8]) throws(StoreError) -> [StoredResponse] {
        try held(\.self) { () throws(StoreError) in
            let purges = purges()
            let found = try tables.responses(ofKey: key, hasher.hash(key), bodyLimit: 0)
            return found.responses.compactMap(purges.left).sorted { $0.isNewer(than: $1) }
        } by: {
            $1.held($0)
        }
    }

    /// Looks up responses in the running store. The returned responses keep their bodies on disk as long as they exist.
    ///
    /// A row may be deleted before the hold is taken, and its chunks soon after. So the row is looked up again after the hold is taken: if
    /// the row still exists, its deletion will find the hold.
    private func held<Found>(
        _ response: KeyPath<Found, StoredResponse>, _ lookUp: () throws(StoreError) -> [Found],
        by hold: (Found, BodyHolds) -> Found
    ) throws(StoreError) -> [Found] {
        var found = try lookUp()
        guard let holds else { return found }
        // New responses may replace those that were found; a few attempts suffice to find a stable state.
        for _ in 0..<3 {
            let held = found.map { hold($0, holds) }
            found = try lookUp()
            let rows = Set(found.map { $0[keyPath: response].row })
            if held.allSatisfy({ rows.contains($0[keyPath: response].row) }) { return held }
        }
        return []
    }
}

/// The thread that runs browsing jobs. Confined to that thread.
final class BrowsingReader {
    private let core: StoreCore
    private var browser: StoreBrowser?

    init(_ core: StoreCore) { self.core = core }

    func run() {
        while true {
            switch core.browsers.next(hasFileOpen: browser != nil) {
            case .job(let job): job(open())
            case .closeFile: closeFile()
            case .stop: return closeFile()
            }
        }
    }

    private func open() -> StoreBrowser? {
        if let browser { return browser }
        guard let file = core.file, core.browsers.mayOpen() else { return nil }
        let purges = core.purges
        do {
            browser = try StoreBrowser(
                try file.connect(.browsing), hasher: core.memory.hasher, core.chains, holds: core.holds
            ) { purges.active }
        } catch {
            core.browsers.didClose()
        }
        return browser
    }

    private func closeFile() {
        guard browser != nil else { return }
        browser = nil
        core.browsers.didClose()
    }
}
