import EventLoop

/// A connection that the pool can hold while no exchange uses it.
class PooledConnection {
    let endpoint: Endpoint
    /// When the connection was last put into the pool.
    var idleSince = MonotonicTime(nanoseconds: 0)
    /// Whether the connection is in the pool's list by age.
    fileprivate(set) var isListed = false
    /// The neighbors in the pool's list by age. The pool's endpoints keep all of them alive.
    fileprivate unowned(unsafe) var newer: PooledConnection?
    fileprivate unowned(unsafe) var older: PooledConnection?

    init(_ endpoint: Endpoint) { self.endpoint = endpoint }

    /// Whether another exchange can use the connection now.
    var isReusable: Bool { false }

    func close() {}

    /// Gives the connection to an exchange that waited for one.
    func start(_ exchange: UpstreamExchange) {}

    /// Whether the pool keeps the connection while no exchange uses it.
    /// - Parameter limit: the maximum number of idle connections of one server.
    func isWorthKeeping(among limit: Int) -> Bool { false }

    /// Puts the idle connection into the pool.
    func join(_ pool: ConnectionPool) {}

    /// Removes the connection from its endpoint's list.
    func leaveEndpoint() {}
}

/// The idle connections of one loop to all servers, linked by age.
struct ConnectionsByAge {
    private(set) unowned(unsafe) var oldest: PooledConnection?
    private unowned(unsafe) var newest: PooledConnection?
    private(set) var count = 0

    mutating func append(_ connection: PooledConnection) {
        connection.isListed = true
        connection.older = newest
        if let newest { newest.newer = connection } else { oldest = connection }
        newest = connection
        count += 1
    }

    mutating func remove(_ connection: PooledConnection) {
        guard connection.isListed else { return }
        connection.isListed = false
        let older = connection.older
        let newer = connection.newer
        if let older { older.newer = newer } else { oldest = newer }
        if let newer { newer.older = older } else { newest = older }
        connection.older = nil
        connection.newer = nil
        count -= 1
    }
}
