import ServerTrust

/// The TLS sessions that later connections of one transport can resume, one for each server. The transport's trust policies and client
/// certificates do not change, and the key has the policy's fingerprint: a session is only resumed under the policy, the pins and the
/// identity that it was made with. Confined to its loop.
final class KeptSessions {
    private var sessions: [PoolKey: ResumableSession] = [:]
    /// The keys in the order in which they were first added.
    private var order: [PoolKey] = []

    static let limit = 256

    func keep(_ session: ResumableSession, for key: PoolKey) {
        if sessions.updateValue(session, forKey: key) == nil { order.append(key) }
        if order.count > Self.limit { sessions[order.removeFirst()] = nil }
    }

    /// The session to offer, which is removed if it is for one use.
    func take(for key: PoolKey) -> ResumableSession? {
        guard let session = sessions[key] else { return nil }
        if session.isForOneUse {
            sessions[key] = nil
            order.removeAll { $0 == key }
        }
        return session
    }
}
