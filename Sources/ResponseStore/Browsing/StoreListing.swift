import EventLoop
import HTTPCaching
import HTTPMessage

/// A place in a listing of the store: of what stands in memory alone first, then of the file's rows in the order in which they came.
///
/// It holds nothing open: between two pages hours may pass. What is stored after its beginning is not in it.
package struct StoreListing: Sendable {
    package let filter: StoreFilter
    /// When it was asked for. Ages and freshness are as of then.
    package let time: Timestamp
    var shard = 0
    var after: StoredRowID = 0
    /// Rows below this one.
    let end: StoredRowID

    /// Of the file alone, by a process that has not the store.
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

/// Some entries, and where to go on.
package struct StorePage: Sendable {
    package var entries: [StoredEntry] = []
    /// `nil` at the end.
    package var next: StoreListing?

    /// So many rows are looked at for a page, found or not.
    static let rowLimit = 4096
    /// A page's read transaction is no longer, in milliseconds.
    static let milliseconds: Int64 = 50
    /// And no more than so many entries are kept for whoever reads slowly.
    static let entryLimit = 512
}

extension ResponseStore {
    /// Begins a listing of everything that has been accepted until now. Waits for the writer; not for a loop that serves.
    package func listNow(_ filter: StoreFilter, at time: Timestamp) -> StoreListing {
        if core.memory.hasDisk {
            let written = Monitor(false)
            // A look-up that goes by the writer's queue comes back behind everything in it.
            let job = LookUpJob(key: [], hash: KeyHash(low: 0, high: 0)) { _ in
                written.withLock { $0 = true }
                written.wake()
            }
            core.queue.add(.lookUp(job), urgent: true)
            // A disk that stands still must not hold up whoever only wants to look.
            let _: Bool? = written.wait(atMost: 1000) { $0 ? true : nil }
        }
        return StoreListing(filter, at: time, end: core.makeRow())
    }

    /// The next page. Waits for one short read of the disk; not for a loop that serves.
    /// - Returns: `nil` when the file cannot be read.
    package func pageNow(_ listing: StoreListing) -> StorePage? {
        let page = pageOfMemory(listing)
        guard page.entries.isEmpty, let rows = page.next, core.memory.hasDisk else { return page }
        return browseNow { (browser) throws(StoreError) in try browser.page(rows) }
    }

    /// Looks at the file and waits for the answer.
    /// - Returns: `nil` when the store is closed, its file cannot be read, or too many wait.
    package func browseNow<Value: Sendable>(
        _ look: @escaping @Sendable (StoreBrowser) throws(StoreError) -> Value
    ) -> Value? {
        let answer = Monitor<Value??>(nil)
        browse { browser in
            var value: Value?
            do { value = try browser.map(look) } catch {
                // Damage is met again, and judged, by the store's own readers.
            }
            answer.withLock { $0 = .some(value) }
            answer.wake()
        }
        return answer.wait { $0 } ?? nil
    }

    /// Gives the thread that looks at the store something to do: in transactions of its own, under 100 ms each.
    /// - Parameter job: Hears `nil` when the store is closed, its file cannot be opened, or too many wait.
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
    /// Whether there is a file of this store's own to look at.
    package var hasFile: Bool { core.memory.hasDisk }

    /// The one with this number, where it stands in memory alone.
    package func inMemoryAlone(row: StoredRowID) -> StoredResponse? {
        for shard in 0..<MemoryTier.shardCount {
            if let found = core.memory.responsesInMemoryAlone(shard: shard).first(where: { $0.row == row }) { return found }
        }
        return nil
    }

    /// The responses of one URL where memory has all of them.
    package func inMemory(_ url: URLPattern) -> [StoredResponse]? {
        guard let key = url.exactKey, case .found(let variants) = inMemory(key.span), variants.isComplete else { return nil }
        return variants.responses
    }
}
