import EventLoop

/// A connection that is opened before there is a request for it, while whoever is going to ask is still occupied with TLS. The first
/// exchange with the server that needs a connection meanwhile takes it over, also while it is being opened; else it becomes an idle one.
///
/// Confined to its loop. Its endpoint has it, and its transport, until it is open, has failed, or has been taken over.
final class Preconnect: ConnectObserver, ConnectAttempt {
    private unowned let transport: Transport
    private let endpoint: Endpoint
    private var attempt: (any ConnectAttempt)?
    /// The exchange that has taken it over. What the connection counts for in the budgets is then the exchange's to give back.
    private var heir: (any ConnectObserver)?

    /// - Parameter endpoint: used and acquired.
    init(_ transport: Transport, to endpoint: Endpoint) {
        self.transport = transport
        self.endpoint = endpoint
    }

    func begin(_ attempt: any ConnectAttempt) { self.attempt = attempt }

    func takeOver(by heir: any ConnectObserver) {
        self.heir = heir
        endpoint.early = nil
    }

    /// By who has taken it over.
    func cancel() {
        attempt?.cancel()
        end()
    }

    /// By the transport.
    func giveUp() {
        attempt?.cancel()
        transport.budgets.release(endpoint.key)
        end()
    }

    func didConnect(_ peer: ConnectedPeer) {
        // The endpoint is to be known for as long as somebody refers to it.
        defer { end() }
        if let heir { return heir.didConnect(peer) }
        do throws(SystemError) {
            transport.becameIdle(try UpstreamConnection(transport, endpoint: endpoint, peer: peer))
        } catch {
            transport.budgets.release(endpoint.key)
        }
    }

    /// Whoever asks next is told why by an attempt of its own.
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
    /// Opens a connection to the server, if there is none that is idle or under way and if the limits have room for one.
    /// - Parameter via: for an upstream proxy that is asked for a tunnel.
    package func prepare(_ origin: Origin, via: String) {
        guard refusalByName(origin) == nil, let endpoint = try? use(origin) else { return }  // a fetch is told why
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
