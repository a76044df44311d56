import EventLoop
import ServerTrust

/// One server used by this loop, with its idle connections; the one used last is on top.
final class Endpoint {
    let key: PoolKey
    /// The policy that evaluates its certificate; `nil` without TLS. The key contains the policy's fingerprint.
    var trust: TrustPolicy?
    /// The client certificate for it; does not change during the life of the pool.
    var identity: ClientIdentity?
    /// A connection that is being opened ahead of a request, and that no exchange has taken over.
    var early: Preconnect?
    @exclusivity(unchecked) fileprivate var idle: [UpstreamConnection] = []
    var idleCount: Int { idle.count }
    /// Connections and exchanges that refer to it; at zero it is removed.
    fileprivate var userCount = 0

    /// Without TLS and without a proxy.
    fileprivate let isDirect: Bool

    init(_ key: PoolKey) {
        self.key = key
        isDirect = key.trustFingerprint == nil && key.tunnelProxy == nil && !key.isForwardingProxy
    }
}

/// The idle connections of one loop: last in, first out for each server, and linked by age over all servers.
final class ConnectionPool {
    private var endpoints: [PoolKey: Endpoint] = [:]
    /// The endpoint used last: a busy loop mostly sends the next exchange to the same server.
    private var recent: Endpoint?
    /// The ends of the list by age. The endpoints keep the listed connections alive.
    private unowned(unsafe) var oldest: UpstreamConnection?
    private unowned(unsafe) var newest: UpstreamConnection?
    private(set) var count = 0

    var oldestConnection: UpstreamConnection? { oldest }

    /// The endpoint with this key; increments its use count.
    func use(_ key: PoolKey) -> Endpoint {
        if let recent, recent.key == key {
            recent.userCount += 1
            return recent
        }
        let endpoint = endpoints[key] ?? Endpoint(key)
        if endpoint.userCount == 0 { endpoints[key] = endpoint }
        endpoint.userCount += 1
        recent = endpoint
        return endpoint
    }

    /// The endpoint used last, if it is this origin's, with TLS.
    func useRecent(_ origin: Origin) -> Endpoint? {
        guard let recent, recent.trust != nil, recent.key.origin == origin else { return nil }
        recent.userCount += 1
        return recent
    }

    /// The endpoint used last, if it is this origin's, without TLS and without a proxy.
    func useRecent(direct origin: Origin) -> Endpoint? {
        guard let recent, recent.isDirect, recent.key.origin == origin else { return nil }
        recent.userCount += 1
        return recent
    }

    func addUse(of endpoint: Endpoint) { endpoint.userCount += 1 }

    func endUse(of endpoint: Endpoint) {
        endpoint.userCount -= 1
        if endpoint.userCount > 0 { return }
        endpoints[endpoint.key] = nil
        if recent === endpoint { recent = nil }
    }

    func insert(_ connection: UpstreamConnection) {
        connection.endpoint.idle.append(connection)
        connection.older = newest
        if let newest { newest.newer = connection } else { oldest = connection }
        newest = connection
        count += 1
    }

    /// Removes the connection used last from the pool.
    func take(from endpoint: Endpoint) -> UpstreamConnection? {
        guard let connection = endpoint.idle.popLast() else { return nil }
        unlink(connection)
        return connection
    }

    func remove(_ connection: UpstreamConnection) {
        guard let index = connection.endpoint.idle.lastIndex(where: { $0 === connection }) else { return }
        connection.endpoint.idle.remove(at: index)
        unlink(connection)
    }

    func oldestConnection(to key: PoolKey) -> UpstreamConnection? { endpoints[key]?.idle.first }

    private func unlink(_ connection: UpstreamConnection) {
        let older = connection.older
        let newer = connection.newer
        if let older { older.newer = newer } else { oldest = newer }
        if let newer { newer.older = older } else { newest = older }
        connection.older = nil
        connection.newer = nil
        count -= 1
    }
}
