import EventLoop
import ServerTrust

/// The idle connections of one loop: last in, first out for each server, and in one list by age for all servers.
final class ConnectionPool {
    private var endpoints: [PoolKey: Endpoint] = [:]
    /// The endpoint used last: a busy loop mostly sends the next exchange to the same server.
    private var recent: Endpoint?
    @exclusivity(unchecked) private var byAge = ConnectionsByAge()
    /// Servers that chose HTTP/2 on their last connection.
    private var http2Keys: Set<PoolKey> = []
    private static let http2KeyLimit = 1024

    var count: Int { byAge.count }
    var oldestConnection: PooledConnection? { byAge.oldest }

    /// Returns the endpoint with this key; increments its use count.
    func use(_ key: PoolKey) -> Endpoint {
        if let recent, recent.key == key {
            recent.userCount += 1
            return recent
        }
        let endpoint = endpoints[key] ?? Endpoint(key)
        if endpoint.userCount == 0 {
            endpoints[key] = endpoint
            if !http2Keys.isEmpty { endpoint.expectsHTTP2 = endpoint.expectsHTTP2 || http2Keys.contains(key) }
        }
        endpoint.userCount += 1
        recent = endpoint
        return endpoint
    }

    /// Returns the endpoint used last, if it is for this origin with TLS; increments its use count.
    func useRecent(_ origin: Origin) -> Endpoint? {
        guard let recent, recent.trust != nil, recent.key.origin == origin, !recent.key.isForwardingProxy else { return nil }
        recent.userCount += 1
        return recent
    }

    /// Returns the endpoint used last, if it is for this origin without TLS and without a proxy; increments its use count.
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

    /// Adds an idle connection.
    func insert(_ connection: UpstreamConnection) {
        connection.endpoint.idle.append(connection)
        byAge.append(connection)
    }

    /// Adds a connection that has no stream now. It is already in its endpoint's list.
    func insert(_ connection: HTTP2OriginConnection) { byAge.append(connection) }

    /// Removes the connection used last from the pool.
    func take(from endpoint: Endpoint) -> UpstreamConnection? {
        guard let connection = endpoint.idle.popLast() else { return nil }
        byAge.remove(connection)
        return connection
    }

    func remove(_ connection: PooledConnection) {
        connection.leaveEndpoint()
        byAge.remove(connection)
    }

    /// Removes an HTTP/2 connection from the list by age, because it gets a stream or closes.
    func unlist(_ connection: HTTP2OriginConnection) { byAge.remove(connection) }

    func oldestConnection(to key: PoolKey) -> PooledConnection? { endpoints[key]?.oldestIdle }

    /// Notes which HTTP version the server has chosen.
    func note(isHTTP2: Bool, of endpoint: Endpoint) {
        if endpoint.expectsHTTP2 == isHTTP2 { return }
        endpoint.expectsHTTP2 = isHTTP2
        if !isHTTP2 {
            http2Keys.remove(endpoint.key)
        } else {
            if http2Keys.count >= Self.http2KeyLimit { http2Keys.removeAll() }
            http2Keys.insert(endpoint.key)
        }
    }
}
