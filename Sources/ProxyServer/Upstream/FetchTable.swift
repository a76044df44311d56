import EventLoop
import HTTPCaching
import ResponseStore

/// What a fetch that others have joined brought.
enum SharedFetch: Sendable {
    case complete(StoredResponse)
    /// The body is still on its way: it is read from the filling.
    case filling(StoredResponse, Filling)
    case notShareable
    /// The client for which it was made has left before an answer came.
    case abandoned
}

/// The fetches under way, by cache key, shared by all loops and touched on a miss only.
///
/// Sharded, each shard under its own mutex that is held for a look-up; waiters are told through their loop's mailbox.
final class FetchTable: Sendable {
    enum Join {
        case leads(FetchEntry)
        case waits(FetchEntry, Reply<SharedFetch>)
        case shared(SharedFetch)
        /// What came for this key lately could not be shared: waiting for one another would only cost time.
        case alone
    }

    private struct Contents {
        var entries: [FetchKey: FetchEntry] = [:]
        /// Hashes of keys whose responses could not be shared, each in the place that its hash gives; a newer one takes it over.
        var unshareable = [Int](repeating: 0, count: FetchTable.unshareableCount)
    }

    private final class Shard: Sendable {
        let contents = Guarded(Contents())
    }

    /// How many keys with responses that cannot be shared each shard remembers.
    private static let unshareableCount = 256

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
        if let shared = entry.wait(reply) {
            reply.send(shared)
        }
        return .waits(entry, reply)
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

    private static func place(of hash: Int) -> Int { (hash >> 4) & (unshareableCount - 1) }
}

/// A cache key with its hash, made once and in one go: an array's own hash is made octet by octet, for each look-up anew.
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

/// One fetch under way and those who wait for it.
final class FetchEntry: Sendable {
    private struct State {
        var result: SharedFetch?
        var waiters: [Reply<SharedFetch>] = []
    }

    let key: FetchKey
    private let state = Guarded(State())

    init(_ key: FetchKey) { self.key = key }

    var published: SharedFetch? { state.withLock { $0.result } }
    var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// - Returns: what was published meanwhile; the reply is then not kept.
    func wait(_ reply: Reply<SharedFetch>) -> SharedFetch? {
        state.withLock { state in
            if let result = state.result { return result }
            state.waiters.append(reply)
            return nil
        }
    }

    /// Tells everyone who waits, and whoever comes until the entry is removed.
    func publish(_ result: SharedFetch) {
        let waiters = state.withLock { state in
            state.result = result
            let waiters = state.waiters
            state.waiters = []
            return waiters
        }
        for waiter in waiters { waiter.send(result) }
    }
}
