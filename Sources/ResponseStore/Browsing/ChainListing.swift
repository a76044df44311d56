import HTTPCaching
import HTTPMessage

/// The recorded certificate chains of https origins: for each origin, the one that was verified last.
///
/// The listing continues from call to call; nothing stays open in between.
package struct ChainListing: Sendable {
    package struct Recorded: Sendable {
        package let chain: RecordedChain
        /// When a response with this chain was last confirmed.
        package let time: Timestamp
    }

    /// The maximum number of origins listed.
    package static let originLimit = 1000

    /// The recorded chains, by `host:port` of their origins as in URLs.
    package private(set) var origins: [String: Recorded] = [:]
    /// Whether there are more origins than are listed.
    package private(set) var isCut = false
    package fileprivate(set) var isAtEnd = false
    fileprivate var hasSeenMemory = false
    fileprivate var after: StoredRowID = 0

    package init() {}

    /// - Parameter chain: reads the chain; called only if it is newer than the chain noted for the same origin.
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
    /// Continues the listing for some milliseconds.
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
            // The clock is read once for 64 rows, because reading it costs more than reading a row.
            isCut = seen % 64 == 0 && Clock.monotonicMilliseconds() >= deadline
            return !isCut
        }
        if !isCut { listing.isAtEnd = true }
    }
}

extension ResponseStore {
    /// Continues the listing for some milliseconds. Blocks for one short disk read, so do not call it on a serving loop.
    /// - Returns: `nil` if the file cannot be read.
    package func readNow(_ listing: ChainListing) -> ChainListing? {
        var listing = listing
        if !listing.hasSeenMemory {
            listing.hasSeenMemory = true
            for shard in 0..<MemoryTier.shardCount {
                for response in core.memory.responsesInMemoryAlone(shard: shard) where response.chain != nil {
                    // This cannot throw: the chain is in memory.
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
