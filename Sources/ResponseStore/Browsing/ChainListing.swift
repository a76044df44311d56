import HTTPCaching
import HTTPMessage

/// Of which https origins chains of certificates are recorded: of each the one by which it was judged last.
///
/// Goes on from call to call; nothing is held open between.
package struct ChainListing: Sendable {
    package struct Recorded: Sendable {
        package let chain: RecordedChain
        /// When what came by it was last heard to hold.
        package let time: Timestamp
    }

    /// More origins are not listed.
    package static let originLimit = 1000

    /// By `host:port` as URLs have it.
    package private(set) var origins: [String: Recorded] = [:]
    /// There were more origins than are listed.
    package private(set) var isCut = false
    package fileprivate(set) var isAtEnd = false
    fileprivate var hasSeenMemory = false
    fileprivate var after: StoredRowID = 0

    package init() {}

    /// - Parameter chain: asked for where it is the latest.
    fileprivate mutating func note(
        key: [UInt8], time: Timestamp, chain: () throws(StoreError) -> RecordedChain?
    ) throws(StoreError) {
        guard let origin = Self.origin(ofKey: key) else { return }
        if let known = origins[origin] {
            guard known.time < time else { return }
        } else if origins.count >= Self.originLimit {
            isCut = true
            return
        }
        if let chain = try chain() { origins[origin] = Recorded(chain: chain, time: time) } else { isCut = true }
    }

    private static func origin(ofKey key: [UInt8]) -> String? {
        let scheme = Array("https://".utf8)
        guard key.starts(with: scheme) else { return nil }
        return String(decoding: key[scheme.count...].prefix { $0 != ASCII.slash }, as: UTF8.self)
    }
}

extension StoreBrowser {
    /// Goes on for some milliseconds.
    package func read(_ listing: inout ChainListing) throws(StoreError) {
        let deadline = Clock.monotonicMilliseconds() + StorePage.milliseconds
        var seen = 0
        var isCut = false
        try pages.read(after: listing.after, before: .max, limit: .max) { (found) throws(StoreError) in
            seen += 1
            listing.after = found.row.id
            if found.row.chain != 0, let entry = found.entry {
                try listing.note(key: entry.key, time: entry.facts.responseTime) { () throws(StoreError) in
                    try chain(found.row.chain)
                }
            }
            // The clock costs more than a row.
            isCut = seen % 64 == 0 && Clock.monotonicMilliseconds() >= deadline
            return !isCut
        }
        if !isCut { listing.isAtEnd = true }
    }
}

extension ResponseStore {
    /// Goes on for some milliseconds. Waits for one short read of the disk; not for a loop that serves.
    /// - Returns: `nil` when the file cannot be read.
    package func readNow(_ listing: ChainListing) -> ChainListing? {
        var listing = listing
        if !listing.hasSeenMemory {
            listing.hasSeenMemory = true
            for shard in 0..<MemoryTier.shardCount {
                for response in core.memory.responsesInMemoryAlone(shard: shard) where response.chain != nil {
                    // It throws nothing: the chain is at hand.
                    try? listing.note(key: response.key, time: response.facts.responseTime) { response.chain }
                }
            }
            listing.isAtEnd = !core.memory.hasDisk
            return listing
        }
        let begun = listing
        return browseNow { (browser) throws(StoreError) in
            var listing = begun
            try browser.read(&listing)
            return listing
        }
    }
}
