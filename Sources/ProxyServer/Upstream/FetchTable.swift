import EventLoop
import HTTPCaching
import HTTPMessage
import ResponseStore

/// What a fetch that others have joined brought.
enum SharedFetch: Sendable {
    case complete(StoredResponse)
    /// The body is still on its way: it is read from the pending response.
    case pending(StoredResponse, PendingResponse)
    case notShareable
    /// The client for which it was made has left before an answer came, or what came is out of date: one of those who waited is to
    /// ask anew.
    case abandoned
}

/// The fetches under way, by cache key, shared by all loops and touched on a miss only.
///
/// Sharded, each shard under its own mutex that is held for a look-up; waiters are told through their loop's mailbox.
final class FetchTable: Sendable {
    enum Join {
        case leads(FetchEntry)
        /// `number` is the one to leave the entry by.
        case waits(FetchEntry, number: Int, Reply<SharedFetch>)
        case shared(SharedFetch)
        /// What came for this key lately could not be shared: waiting for one another would only cost time.
        case alone
    }

    private struct Contents {
        var entries: [FetchKey: FetchEntry] = [:]
        /// Hashes of keys whose responses could not be shared, each in the place that its hash gives; a newer one takes it over.
        var unshareable = [Int](repeating: 0, count: FetchTable.placeCount)
        /// Keys about which no background fetch asks for a while, from when and until when, each in the place that its hash gives.
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

    /// How many keys with responses that cannot be shared each shard remembers.
    private static let placeCount = 256

    private let shards: [Shard] = (0..<16).map { _ in Shard() }

    /// Joins the fetch of this key, or starts one. `makeReply` is called only where there is something to wait for.
    func join(_ key: [UInt8], makeReply: () -> Reply<SharedFetch>) -> Join {
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

    /// Leads the background fetch of this key, unless a fetch is in flight or the key is postponed.
    func lead(_ key: [UInt8], at now: Timestamp) -> FetchEntry? {
        let key = FetchKey(key)
        return shards[key.hash & 15].contents.withLock { contents in
            if contents.entries[key] != nil { return nil }
            let postponed = contents.postponed[Self.place(of: key.hash)]
            // A clock that was set back ends the wait: it would last longer than was asked for.
            if postponed.hash == key.hash, postponed.start <= now, now < postponed.end { return nil }
            let entry = FetchEntry(key)
            contents.entries[key] = entry
            return entry
        }
    }

    /// A background fetch of this key has failed: the next one waits.
    func postpone(_ key: [UInt8], until end: Timestamp, at now: Timestamp) {
        let hash = FetchKey(key).hash
        shards[hash & 15].contents.withLock { $0.postponed[Self.place(of: hash)] = Postponed(hash: hash, start: now, end: end) }
    }

    /// Ends a fetch: later requests find the store, or lead a fetch of their own.
    /// - Parameter isUnshareable: what came can be used by one request only; the next ones ask for themselves at once.
    func remove(_ entry: FetchEntry, isUnshareable: Bool = false) {
        let hash = entry.key.hash
        shards[hash & 15].contents.withLock { contents in
            if contents.entries[entry.key] === entry { contents.entries[entry.key] = nil }
            if isUnshareable { contents.unshareable[Self.place(of: hash)] = hash }
        }
    }

    /// A response to this key can be shared after all.
    func noteShareable(_ key: [UInt8]) {
        let hash = FetchKey(key).hash
        shards[hash & 15].contents.withLock { contents in
            let place = Self.place(of: hash)
            if contents.unshareable[place] == hash { contents.unshareable[place] = 0 }
        }
    }

    /// What is under way for these keys may have left the origin before the write that invalidates them: nobody joins it from
    /// now on (RFC 9111 §4.4). Those who have joined it asked before, and get it.
    func invalidate(_ keys: [[UInt8]]) {
        for key in keys {
            let key = FetchKey(key)
            shards[key.hash & 15].contents.withLock { $0.entries[key] = nil }
        }
    }

    /// What is under way and may be covered by a purge: nobody joins it from now on. The store knows what began before the purge.
    func purge(_ purge: Purge) {
        for shard in shards {
            let keys = shard.contents.withLock { Array($0.entries.keys) }
            let covered = keys.filter { purge.mayCover(key: $0.octets) }
            if covered.isEmpty { continue }
            shard.contents.withLock { contents in for key in covered { contents.entries[key] = nil } }
        }
    }

    private static func place(of hash: Int) -> Int { (hash >> 4) & (placeCount - 1) }
}

/// A cache key with its hash, made once and in one go: an array's own hash is made byte by byte, for each look-up anew.
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
