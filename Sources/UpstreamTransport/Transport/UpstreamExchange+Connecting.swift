import EventLoop
import HTTPMessage

/// How an exchange gets a connection: an idle one, a stream of a shared connection, the connection that another exchange is opening, or a
/// new connection. If the limits are reached, the exchange waits first.
extension UpstreamExchange {
    /// Starts on an idle or shared connection, or waits for one.
    func obtainConnection(to endpoint: Endpoint) {
        if endpoint.sharesConnections, let shared = sharedConnection(to: endpoint) {
            if shared.isIdle || transport.acquire(endpoint.key) { return start(on: shared.makeStream(), isReused: true) }
            waitingSince = loop.now
            return enqueue(for: endpoint)
        }
        while let connection = transport.pool.take(from: endpoint) {
            if connection.isReusable { return start(on: connection, isReused: true) }
            connection.close()
        }
        awaitConnection(to: endpoint)
    }

    /// A switch of protocols uses a connection that is open and whose server has announced extended CONNECT (RFC 8441). Otherwise it needs
    /// a connection for itself, in HTTP/1.1 (RFC 9113 §8.6): before a connection is open, it is unknown whether its server will announce
    /// extended CONNECT.
    private func sharedConnection(to endpoint: Endpoint) -> HTTP2OriginConnection? {
        endpoint.sharedConnection(isForSwitch: request.isForSwitch)
    }

    private func awaitConnection(to endpoint: Endpoint) {
        if let error = transport.configuration.refusalByName(request.origin) { return refuse(error) }
        waitingSince = loop.now
        if let early = endpoint.early, !request.isForSwitch || !endpoint.expectsHTTP2 {
            guard transport.configuration.gate.isOpen(to: request.origin.host) else { return refuse(.egressClosed) }
            state = .connecting
            arm(.connect, 0)
            early.takeOver(by: self)
            attempt = early
            endpoint.openingBegan()
            return
        }
        if !request.isForSwitch, endpoint.join(self, atMost: transport.budgets.queueLengthLimit) {
            state = .joining
            return arm(.connect, timeouts.connect)
        }
        if transport.acquire(endpoint.key) { return connect(to: endpoint) }
        enqueue(for: endpoint)
    }

    /// Called when the exchange that this exchange waited for has opened a connection, or was cancelled.
    func proceedFromJoining() {
        guard case .joining = state, let endpoint else { return }
        guard transport.configuration.gate.isOpen(to: request.origin.host) else { return refuse(.egressClosed) }
        metrics.connectTime = loop.now.microseconds(since: waitingSince)
        obtainConnection(to: endpoint)
    }

    func failFromJoining(_ error: TransportError) {
        if case .joining = state { fail(error) }
    }

    private func enqueue(for endpoint: Endpoint) {
        guard let ticket = transport.enqueue(self, for: endpoint.key) else { return refuse(.queueFull) }
        state = .queued(ticket: ticket)
        arm(.queue, timeouts.queue)
    }

    /// Called when the exchange's turn has come: it may open a connection, which is already counted.
    func granted() {
        guard case .queued = state, let endpoint else { return }
        metrics.queueTime = loop.now.microseconds(since: waitingSince)
        guard let shared = sharedConnection(to: endpoint) else { return connect(to: endpoint) }
        guard transport.configuration.gate.isOpen(to: request.origin.host) else {
            transport.budgets.release(endpoint.key)
            return refuse(.egressClosed)
        }
        // The granted place is for one more stream. But the first stream of an idle connection uses the place that the connection already
        // has, so the granted place is given back.
        if shared.isIdle { transport.budgets.release(endpoint.key) }
        start(on: shared.makeStream(), isReused: true)
    }

    /// Called when the exchange's turn has come, and it gets a shared connection (HTTP/2).
    func granted(_ connection: HTTP2OriginConnection) {
        guard case .queued = state else { return }
        metrics.queueTime = loop.now.microseconds(since: waitingSince)
        guard transport.configuration.gate.isOpen(to: request.origin.host) else {
            connection.close()
            return refuse(.egressClosed)
        }
        guard !request.isForSwitch || connection.permitsSwitch && endpoint?.requiresHTTP1ForSwitch == false else {
            // Closes this connection, and uses its place in the budgets for a connection that can switch protocols.
            connection.close()
            guard let endpoint else { return }
            return awaitConnection(to: endpoint)
        }
        start(on: connection.makeStream(), isReused: true)
    }

    /// Called when the exchange's turn has come, and it gets a connection that another exchange no longer needs.
    func granted(_ connection: UpstreamConnection) {
        guard case .queued = state else { return }
        metrics.queueTime = loop.now.microseconds(since: waitingSince)
        guard transport.configuration.gate.isOpen(to: request.origin.host) else {
            connection.close()
            return refuse(.egressClosed)
        }
        start(on: connection, isReused: true)
    }

    private func connect(to endpoint: Endpoint) {
        // The gate may have been closed while the exchange waited for its turn.
        guard transport.configuration.gate.isOpen(to: request.origin.host) else {
            transport.budgets.release(endpoint.key)
            return refuse(.egressClosed)
        }
        waitingSince = loop.now
        state = .connecting
        // The connection attempt has its own timeout for lookup and connecting. The timer here only limits the whole exchange.
        arm(.connect, 0)
        endpoint.openingBegan()
        attempt = transport.connect(
            to: endpoint, via: request.via, isForSwitch: request.isForSwitch, milliseconds: timeouts.connect, observer: self)
    }

    func didConnect(_ peer: ConnectedPeer) {
        attempt = nil
        guard let endpoint else { return peer.close() }
        metrics.connectTime = loop.now.microseconds(since: waitingSince)
        metrics.lookUpTime = peer.lookUpTime
        metrics.handshakeTime = peer.handshakeTime
        do throws(SystemError) {
            switch try transport.adopt(peer, of: endpoint, isForSwitch: request.isForSwitch) {
            case let connection as UpstreamConnection: start(on: connection, isReused: false)
            case let connection as HTTP2OriginConnection where request.isForSwitch:
                // The connection was opened before this request, and uses HTTP/2, so it cannot switch protocols. Other requests can use it.
                endpoint.openingEnded()
                transport.becameIdle(connection)
                return awaitConnection(to: endpoint)
            case let connection as HTTP2OriginConnection: start(on: connection.makeStream(), isReused: false)
            default: preconditionFailure("a connection in another version")
            }
            endpoint.openingEnded()
        } catch {
            transport.budgets.release(endpoint.key)
            let failure = TransportError.outOfResources(code: error.code)
            endpoint.openingFailed(failure)
            fail(failure)
        }
    }

    func didFailToConnect(_ error: TransportError) {
        attempt = nil
        if let endpoint {
            transport.budgets.release(endpoint.key)
            endpoint.openingFailed(error)
        }
        fail(error)
    }
}
