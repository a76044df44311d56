import EventLoop

/// A connection that is opened before there is a request for it, while the client is still in its TLS handshake. The first
/// exchange with the server that needs a connection takes it over, even while it is being opened; otherwise it becomes idle.
///
/// Confined to its loop. Its endpoint and its transport keep it until it is open, has failed, or has been taken over.
final class Preconnect: ConnectObserver, ConnectAttempt {
    private unowned let transport: Transport
    private let endpoint: Endpoint
    private var attempt: (any ConnectAttempt)?
    /// The exchange that has taken it over; that exchange then releases the connection's place in the budgets.
    private var heir: (any ConnectObserver)?

    /// - Parameter endpoint: with its use counted, and with a place in the budgets.
    init(_ transport: Transport, to endpoint: Endpoint) {
        self.transport = transport
        self.endpoint = endpoint
    }

    func begin(_ attempt: any ConnectAttempt) { self.attempt = attempt }

    func takeOver(by heir: any ConnectObserver) {
        self.heir = heir
        endpoint.early = nil
    }

    /// Called by the exchange that has taken it over.
    func cancel() {
        attempt?.cancel()
        end()
    }

    /// Called by the transport.
    func giveUp() {
        attempt?.cancel()
        transport.budgets.release(endpoint.key)
        end()
    }

    func didConnect(_ peer: ConnectedPeer) {
        // Until then the endpoint must stay registered.
        defer { end() }
        if let heir { return heir.didConnect(peer) }
        do throws(SystemError) {
            transport.becameIdle(try UpstreamConnection(transport, endpoint: endpoint, peer: peer))
        } catch {
            transport.budgets.release(endpoint.key)
        }
    }

    /// The next exchange finds out the reason by its own attempt.
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
    /// - Parameter via: for an upstream proxy that is asked for a tunnel.
    package func prepare(_ origin: Origin, via: String) {
        // The fetch will report the error.
        guard configuration.refusalByName(origin) == nil, let endpoint = try? use(origin) else { return }
        defer { pool.endUse(of: endpoint) }
        guard endpoint.idleCount == 0, endpoint.early == nil, budgets.acquire(endpoint.key) else { return }
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
