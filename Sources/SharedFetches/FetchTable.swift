import EventLoop
import HTTPCaching
import HTTPMessage
import ResponseStore

/// The result of a fetch that other requests have joined.
package enum SharedFetch: Sendable {
    case complete(StoredResponse)
    /// The body is in flight: it is read from the pending response.
    case pending(StoredResponse, PendingResponse)
    case notShareable
    /// The client of the fetch disconnected before a response arrived, or the response was invalidated. One of the waiting requests fetches
    /// again.
    case abandoned
}

/// The fetches in flight, by cache key, shared by all loops and only used on a miss.
///
/// Sharded, each shard with its own mutex, held only for a look-up; waiters are notified through their loop's mailbox.
package final class FetchTable: Sendable {
    package enum Join {
        case leads(FetchEntry)
        /// The request waits for a fetch. `number` is the argument for `leave`.
        case waits(FetchEntry, number: Int, Reply<SharedFetch>)
        case shared(SharedFetch)
        /// The request fetches for itself: a recent response for this key could not be shared, so waiting would only cost time.
        case alone
    }

    private struct Contents {
        var entries: [FetchKey: FetchEntry] = [:]
        /// Hashes of keys whose responses could not be shared, each in the slot given by the hash; a newer one replaces an older one.
        var unshareable = [Int](repeating: 0, count: FetchTable.placeCount)
        /// Keys for which background fetches are postponed, with start and end, each in the slot given by the hash.
        var postponed = [Postponed](repeating: Postponed(), count: FetchTable.placeCount)
    }

    private struct Postponed {
        var hash = 0
        var start = Timestamp(milliseconds: 0)
        var end = Timestamp(milliseconds: 0)
    }

    private final class Shard: Sendable {
        let contents = Guarded(Contents())
    }

    /// The number of slots in each shard.
    private static let placeCount = 256

    private let shards: [Shard] = (0..<16).map { _ in Shard() }

    package init() {}

    /// Joins the fetch of this key, or starts one. `makeReply` is only called if there is something to wait for.
    package func join(_ key: [UInt8], makeReply: () -> Reply<SharedFetch>) -> Join {
        let key = FetchKey(key)
        let hash = key.hash
        let (found, isNew) = shards[hash & 15].contents.withLock { contents -> (FetchEntry?, Bool) in
            if let entry = contents.entries[key] { return (entry, false) }
            if contents.unshareable[Self.place(of: hash)] == hash { return (nil, false) }
            let entry = FetchEntry(key)
            contents.entries[key] = entry
            return (entry, true)
        }
        guard let entry = found else { return .alone }
        if isNew { return .leads(entry) }
        if let shared = entry.published { return .shared(shared) }
        let reply = makeReply()
        let (number, published) = entry.wait(reply)
        if let published { reply.send(published) }
        return .waits(entry, number: number, reply)
    }

    /// Begins the background fetch of this key, unless a fetch is in flight or the key is postponed.
    package func lead(_ key: [UInt8], at now: Timestamp) -> FetchEntry? {
        let key = FetchKey(key)
        return shards[key.hash & 15].contents.withLock { contents in
            if contents.entries[key] != nil { return nil }
            let postponed = contents.postponed[Self.place(of: key.hash)]
            // The postponement also ends if the clock was set back: otherwise it would last longer than intended.
            if postponed.hash == key.hash, postponed.start <= now, now < postponed.end { return nil }
            let entry = FetchEntry(key)
            contents.entries[key] = entry
            return entry
        }
    }

    /// Postpones the next background fetch of this key after a failed one.
    package func postpone(_ key: [UInt8], until end: Timestamp, at now: Timestamp) {
        let hash = FetchKey(key).hash
        shards[hash & 15].contents.withLock { $0.postponed[Self.place(of: hash)] = Postponed(hash: hash, start: now, end: end) }
    }

    /// Ends a fetch: later requests use the store, or start their own fetch.
    /// - Parameter isUnshareable: whether only one request can use the response; the next ones fetch for themselves at once.
    package func remove(_ entry: FetchEntry, isUnshareable: Bool = false) {
        let hash = entry.key.hash
        shards[hash & 15].contents.withLock { contents in
            if contents.entries[entry.key] === entry { contents.entries[entry.key] = nil }
            if isUnshareable { contents.unshareable[Self.place(of: hash)] = hash }
        }
    }

    /// Records that a response to this key can be shared after all.
    package func noteShareable(_ key: [UInt8]) {
        let hash = FetchKey(key).hash
        shards[hash & 15].contents.withLock { contents in
            let place = Self.place(of: hash)
            if contents.unshareable[place] == hash { contents.unshareable[place] = 0 }
        }
    }

    /// From now on, no request joins the current fetches of these keys: their responses may be older than the write that
    /// invalidates the keys (RFC 9111 §4.4). Requests that have already joined came before the write, and get the response.
    package func invalidate(_ keys: [[UInt8]]) {
        for key in keys {
            let key = FetchKey(key)
            shards[key.hash & 15].contents.withLock { $0.entries[key] = nil }
        }
    }

    /// From now on, no request joins a fetch that a purge may cover. The store knows which of these fetches began before the purge.
    package func purge(_ purge: Purge) {
        for shard in shards {
            let keys = shard.contents.withLock { Array($0.entries.keys) }
            let covered = keys.filter { purge.mayCover(key: $0.octets) }
            if covered.isEmpty { continue }
            shard.contents.withLock { contents in for key in covered { contents.entries[key] = nil } }
        }
    }

    private static func place(of hash: Int) -> Int { (hash >> 4) & (placeCount - 1) }
}

/// A cache key with its hash, computed once over all bytes: an array's own hash is computed byte by byte, on each look-up.
struct FetchKey: Hashable, Sendable {
    let hash: Int
    let octets: [UInt8]

    init(_ octets: [UInt8]) {
        self.octets = octets
        var hasher = Hasher()
        octets.withUnsafeBytes { hasher.combine(bytes: $0) }
        hash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
