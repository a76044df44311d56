import EventLoop

/// A connection that is opened before there is a request for it, while the client is still in its TLS handshake. The first
/// exchange with the server that needs a connection uses it, even while it is being opened. If none does, the connection
/// becomes idle.
///
/// Confined to its loop. Its endpoint and its transport keep this object until the connection is open, has failed, or belongs
/// to an exchange.
final class Preconnect: ConnectObserver, ConnectAttempt {
    private unowned let transport: Transport
    private let endpoint: Endpoint
    private var attempt: (any ConnectAttempt)?
    /// The exchange that uses the connection, if any; that exchange then releases the connection's place in the budgets.
    private var heir: (any ConnectObserver)?

    /// - Parameter endpoint: the caller has counted this use of the endpoint, and has taken a place in the budgets for the
    ///   connection.
    init(_ transport: Transport, to endpoint: Endpoint) {
        self.transport = transport
        self.endpoint = endpoint
    }

    func begin(_ attempt: any ConnectAttempt) { self.attempt = attempt }

    func takeOver(by heir: any ConnectObserver) {
        self.heir = heir
        endpoint.early = nil
    }

    /// Called by the exchange that uses the connection.
    func cancel() {
        attempt?.cancel()
        end()
    }

    /// Called when the transport closes.
    func giveUp() {
        attempt?.cancel()
        transport.budgets.release(endpoint.key)
        end()
    }

    func didConnect(_ peer: ConnectedPeer) {
        // `end` is called last, because the endpoint must stay registered until the connection is passed on.
        defer { end() }
        if let heir { return heir.didConnect(peer) }
        do throws(SystemError) {
            transport.becameIdle(try transport.adopt(peer, of: endpoint))
        } catch {
            transport.budgets.release(endpoint.key)
        }
    }

    /// If no exchange uses the connection, the error is not kept: the next exchange learns it from its own attempt.
    func didFailToConnect(_ error: TransportError) {
        defer { end() }
        if let heir { return heir.didFailToConnect(error) }
        transport.budgets.release(endpoint.key)
    }

    private func end() {
        attempt = nil
        transport.earlyEnded(self, to: endpoint)
    }
}

extension Transport {
    /// Opens a connection to the server, unless one is idle or being opened, and if the limits allow another.
    /// - Parameter via: the value of Via in the request for a tunnel through an upstream proxy.
    package func prepare(_ origin: Origin, via: String) {
        // An error is not reported here: the later fetch will report it.
        // With parents, the member depends on the request.
        guard configuration.parents == nil, configuration.refusalByName(origin) == nil, let endpoint = try? use(origin) else {
            return
        }
        defer { pool.endUse(of: endpoint) }
        guard endpoint.idleCount == 0, !endpoint.sharesConnections, endpoint.early == nil, budgets.acquire(endpoint.key) else {
            return
        }
        let early = Preconnect(self, to: endpoint)
        pool.addUse(of: endpoint)
        endpoint.early = early
        earlyConnections[ObjectIdentifier(early)] = early
        early.begin(connect(to: endpoint, via: via, milliseconds: configuration.timeouts.connect, observer: early))
    }

    fileprivate func earlyEnded(_ early: Preconnect, to endpoint: Endpoint) {
        earlyConnections[ObjectIdentifier(early)] = nil
        if endpoint.early === early { endpoint.early = nil }
        pool.endUse(of: endpoint)
    }
}
