import EventLoop
import ServerTrust

/// One server used by this loop, with its connections; the idle connections are a stack, with the one used last on top.
final class Endpoint {
    let key: PoolKey
    /// The policy that evaluates the server's certificate; `nil` without TLS. The key contains the policy's fingerprint.
    var trust: TrustPolicy?
    /// The client certificate for this server; does not change during the life of the pool.
    var identity: ClientIdentity?
    /// A connection that is opened ahead of a request, and that no exchange uses yet.
    var early: Preconnect?
    /// Idle connections with HTTP/1.1.
    @exclusivity(unchecked) var idle: [UpstreamConnection] = []
    var idleCount: Int { idle.count }
    /// The number of connections and exchanges that refer to this endpoint; at zero the pool removes it.
    var userCount = 0

    /// Connections with HTTP/2 that accept requests, idle or not.
    @exclusivity(unchecked) private var shared: [HTTP2OriginConnection] = []
    /// Whether the server chose HTTP/2 on its last connection. If so, exchanges wait for a connection that is being opened, instead of
    /// opening others.
    var expectsHTTP2 = false
    /// Whether the server has refused a request in HTTP/2 (RFC 9113 §7, HTTP_1_1_REQUIRED).
    var requiresHTTP1 = false
    /// Whether the server has refused to switch protocols in HTTP/2, although it has announced extended CONNECT (RFC 8441 §3).
    var requiresHTTP1ForSwitch = false
    /// How many connections are being opened. A connection with HTTP/2 counts until the server has said how many requests it accepts.
    private var openingCount = 0
    /// Exchanges that wait for a connection that another exchange is opening, in order.
    private var joined: [UpstreamExchange] = []

    /// Whether connections are without TLS, without a proxy, and with HTTP/1.1.
    let isDirect: Bool

    init(_ key: PoolKey) {
        self.key = key
        expectsHTTP2 = key.isKnownHTTP2
        isDirect = key.trustFingerprint == nil && key.tunnelProxy == nil && !key.isForwardingProxy && !key.isKnownHTTP2
    }

    /// Whether the server may choose HTTP/2.
    var mayUseHTTP2: Bool { (trust != nil || key.isKnownHTTP2) && !requiresHTTP1 }

    // MARK: Shared connections

    var sharesConnections: Bool { !shared.isEmpty }

    func share(_ connection: HTTP2OriginConnection) { shared.append(connection) }

    func unshare(_ connection: HTTP2OriginConnection) { shared.removeAll { $0 === connection } }

    /// A connection that can carry one more request. The oldest such connection is used first, so that the others become idle.
    /// - Parameter isForSwitch: the request asks for a switch of protocols, for which the server must have announced extended CONNECT.
    func sharedConnection(isForSwitch: Bool) -> HTTP2OriginConnection? {
        if requiresHTTP1 || isForSwitch && requiresHTTP1ForSwitch { return nil }
        var index = 0
        while index < shared.count {
            let connection = shared[index]
            if connection.hasSpace, !isForSwitch || connection.permitsSwitch { return connection }
            // The connection may have closed itself and left the list.
            if index < shared.count, shared[index] === connection { index += 1 }
        }
        return nil
    }

    var oldestIdle: PooledConnection? { idle.first ?? shared.first { $0.isListed } }

    /// Whether a connection other than this one has space for a request.
    func hasSpace(besides connection: HTTP2OriginConnection) -> Bool {
        shared.contains { $0 !== connection && $0.hasSpace }
    }

    // MARK: Waiting for another exchange's connection

    /// - Returns: whether the exchange now waits; if not, it opens a connection itself.
    func join(_ exchange: UpstreamExchange, atMost limit: Int) -> Bool {
        guard expectsHTTP2, !requiresHTTP1, openingCount > 0, joined.count < limit else { return false }
        joined.append(exchange)
        return true
    }

    func leave(_ exchange: UpstreamExchange) { joined.removeAll { $0 === exchange } }

    func openingBegan() { openingCount += 1 }

    /// Called when a connection has been opened, or when the attempt was cancelled.
    func openingEnded() {
        openingCount -= 1
        let waiting = joined
        joined = []
        for exchange in waiting { exchange.proceedFromJoining() }
    }

    /// The exchanges that waited for the connection fail with its error: a new attempt would fail in the same way.
    func openingFailed(_ error: TransportError) {
        openingCount -= 1
        let waiting = joined
        joined = []
        for exchange in waiting { exchange.failFromJoining(error) }
    }
}
