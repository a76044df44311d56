import EventLoop
import HTTPCaching
import ResponseStore
import Synchronization

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
    }

    private final class Shard: Sendable {
        let entries = Mutex<[[UInt8]: FetchEntry]>([:])
    }

    private let shards: [Shard] = (0..<16).map { _ in Shard() }

    /// Joins the fetch of this key, or starts one. `makeReply` is called only where there is something to wait for.
    func join(_ key: [UInt8], makeReply: () -> Reply<SharedFetch>) -> Join {
        let shard = shard(of: key)
        let (entry, isNew) = shard.entries.withLock { entries in
            if let entry = entries[key] { return (entry, false) }
            let entry = FetchEntry(key: key)
            entries[key] = entry
            return (entry, true)
        }
        if isNew { return .leads(entry) }
        if let shared = entry.published { return .shared(shared) }
        let reply = makeReply()
        if let shared = entry.wait(reply) {
            reply.send(shared)
        }
        return .waits(entry, reply)
    }

    /// Ends a fetch: later requests find the store, or lead a fetch of their own.
    func remove(_ entry: FetchEntry) {
        shard(of: entry.key).entries.withLock { entries in
            if entries[entry.key] === entry { entries[entry.key] = nil }
        }
    }

    private func shard(of key: [UInt8]) -> Shard { shards[key.hashValue & 15] }
}

/// One fetch under way and those who wait for it.
final class FetchEntry: Sendable {
    private struct State {
        var result: SharedFetch?
        var waiters: [Reply<SharedFetch>] = []
    }

    let key: [UInt8]
    private let state = Mutex(State())

    init(key: [UInt8]) { self.key = key }

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
