import EventLoop
import ServerTrust

/// The TLS sessions that later connections of one transport can resume, one for each server. A session is resumed only under the policy,
/// the pins and the identity that it was made with: the transport's policies and client certificates do not change, and the key has the
/// policy's fingerprint. Confined to its loop.
///
/// A server that has declined a session is offered no session for some time, because many servers send tickets that they never accept.
final class KeptSessions {
    private enum Entry {
        case session(ResumableSession)
        case declined(until: MonotonicTime)
    }

    private var entries: [PoolKey: Entry] = [:]
    /// The keys in the order in which they were added.
    private var order: [PoolKey] = []

    static let limit = 256
    private static let declinedMilliseconds = 600_000

    /// Whether sessions of this server are kept.
    func admits(_ key: PoolKey, at now: MonotonicTime) -> Bool {
        guard case .declined(let end) = entries[key] else { return true }
        if now < end { return false }
        remove(key)
        return true
    }

    func keep(_ session: ResumableSession, for key: PoolKey) { add(.session(session), for: key) }

    func noteDeclined(_ key: PoolKey, at now: MonotonicTime) {
        add(.declined(until: now.advanced(milliseconds: Self.declinedMilliseconds)), for: key)
    }

    /// Returns the session to offer to the server. A session that may be used only once is removed.
    func take(for key: PoolKey) -> ResumableSession? {
        guard case .session(let session) = entries[key] else { return nil }
        if session.isForOneUse { remove(key) }
        return session
    }

    private func add(_ entry: Entry, for key: PoolKey) {
        if entries.updateValue(entry, forKey: key) == nil { order.append(key) }
        if order.count > Self.limit { entries[order.removeFirst()] = nil }
    }

    private func remove(_ key: PoolKey) {
        entries[key] = nil
        order.removeAll { $0 == key }
    }
}
