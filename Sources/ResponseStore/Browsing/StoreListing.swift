import EventLoop
import HTTPCaching
import HTTPMessage

/// A position in a listing of the store: first the responses that are in memory only, then the file's rows in order of insertion.
///
/// The listing keeps nothing open: hours may pass between two pages. Responses that were stored after the listing began are not
/// included.
package struct StoreListing: Sendable {
    package let filter: StoreFilter
    /// When the listing was requested: ages and freshness are computed for that time.
    package let time: Timestamp
    var shard = 0
    var after: StoredRowID = 0
    /// Only rows below this id are listed.
    let end: StoredRowID

    /// Lists the file alone, for a process that does not own the store.
    package init(_ filter: StoreFilter, at time: Timestamp) {
        self.init(filter, at: time, end: .max)
        shard = MemoryTier.shardCount
    }

    init(_ filter: StoreFilter, at time: Timestamp, end: StoredRowID) {
        self.filter = filter
        self.time = time
        self.end = end
    }
}

/// One page of a listing: some entries, and where the next page begins.
package struct StorePage: Sendable {
    package var entries: [StoredEntry] = []
    /// Where the next page begins; `nil` at the end of the listing.
    package var next: StoreListing?

    /// The maximum number of rows read for a page, matching or not.
    static let rowLimit = 4096
    /// The maximum duration of a page's read transaction, in milliseconds.
    static let milliseconds: Int64 = 50
    /// The maximum number of entries in a page. A page stays in memory while a slow client reads it.
    static let entryLimit = 512
}

extension ResponseStore {
    /// Starts a listing of everything accepted until now. Blocks until the writer has caught up, so do not call it on a serving loop.
    package func listNow(_ filter: StoreFilter, at time: Timestamp) -> StoreListing {
        if core.memory.hasDisk {
            let written = Monitor(false)
            // A lookup that is queued for the writer returns after everything queued before it.
            let job = LookUpJob(key: [], hash: KeyHash(low: 0, high: 0)) { _ in
                written.withLock { $0 = true }
                written.wake()
            }
            core.queue.add(.lookUp(job), urgent: true)
            // A disk that does not respond must not block a listing.
            let _: Bool? = written.wait(atMost: 1000) { $0 ? true : nil }
        }
        return StoreListing(filter, at: time, end: core.makeRow())
    }

    /// The next page. Blocks for one short disk read, so do not call it on a serving loop.
    /// - Returns: `nil` if the file cannot be read.
    package func pageNow(_ listing: StoreListing) -> StorePage? {
        let page = pageOfMemory(listing)
        guard page.entries.isEmpty, let rows = page.next, core.memory.hasDisk else { return page }
        return browseNow { (browser) throws(StoreError) in try browser.page(rows) }
    }

    /// Runs a job on the browsing thread and waits for its result.
    /// - Returns: `nil` if the store is closed, its file cannot be read, or too many jobs wait.
    package func browseNow<Value: Sendable>(
        _ look: @escaping @Sendable (StoreBrowser) throws(StoreError) -> Value
    ) -> Value? {
        let answer = Monitor<Value??>(nil)
        browse { browser in
            var value: Value?
            do { value = try browser.map(look) } catch {
                // Damage is not handled here: the store's own readers will find it again and handle it.
            }
            answer.withLock { $0 = .some(value) }
            answer.wake()
        }
        return answer.wait { $0 } ?? nil
    }

    /// Runs a job on the browsing thread, in its own transactions of less than 100 ms each.
    /// - Parameter job: gets `nil` if the store is closed, its file cannot be opened, or too many jobs wait.
    package func browse(_ job: @escaping BrowseJob) {
        if !hasFile || !core.browsers.add(job) { job(nil) }
    }

    private func pageOfMemory(_ listing: StoreListing) -> StorePage {
        var page = StorePage(next: listing)
        while let shard = page.next?.shard, shard < MemoryTier.shardCount, page.entries.count < StorePage.entryLimit {
            for response in core.memory.responsesInMemoryAlone(shard: shard) {
                let entry = StoredEntry(response, isMemoryOnly: true)
                if listing.filter.matches(entry, at: listing.time) { page.entries.append(entry) }
            }
            page.next?.shard += 1
        }
        if page.next?.shard == MemoryTier.shardCount, !core.memory.hasDisk { page.next = nil }
        return page
    }
}

extension ResponseStore {
    /// Whether the store has its own file to read.
    package var hasFile: Bool { core.memory.hasDisk }

    /// The response with this row id, if it is in memory only.
    package func inMemoryAlone(row: StoredRowID) -> StoredResponse? {
        for shard in 0..<MemoryTier.shardCount {
            if let found = core.memory.responsesInMemoryAlone(shard: shard).first(where: { $0.row == row }) { return found }
        }
        return nil
    }

    /// The responses of one URL, if memory has all of them.
    package func inMemory(_ url: URLPattern) -> [StoredResponse]? {
        guard let key = url.exactKey, case .found(let variants) = inMemory(key.span), variants.isComplete else { return nil }
        return variants.responses
    }
}
