import EventLoop
import HTTPMessage
import ProxyCore
import UpstreamTransport

/// A connection that becomes a tunnel: by CONNECT, or by switching protocols (RFC 9110 §7.8).
final class ClientTunnel {
    private var opening: TunnelOpening?
    /// The connection to the origin or the upstream proxy, and the transport that opened it.
    private var upstream: (descriptor: Int32, opener: Transport)?
    private var isIntercepted = false
    /// Whether the request that switched protocols came in a tunnel that Larder intercepts.
    private var isInside = false
    /// Whether the request is a CONNECT that was executed.
    private(set) var isUsed = false

    func open(for driver: ExchangeDriver) {
        let transport = driver.worker.transport
        isUsed = true
        if transport.intercepts(tunnelTo: origin(of: driver)) {
            isIntercepted = true
            return driver.handle(.tunnelOpened(at: driver.now))
        }
        driver.tell(.tunnelPlanned)
        if driver.exchange.needsApproval { return driver.handle(.tunnelHeld(at: driver.now)) }
        if let fault = driver.exchange.tunnelFault { return driver.handle(.upstreamFailed(fault, at: driver.now)) }
        guard let way = driver.transportOfWay else {
            return driver.handle(.upstreamFailed(.upstreamProxyRefused, at: driver.now))
        }
        driver.noteWay(of: way)
        let opening = way.openTunnel(to: origin(of: driver), via: driver.exchange.tunnelVia, delegate: driver)
        self.opening = opening
        driver.logged.connectOutcome = opening.outcome
        driver.worker.openingTunnels += 1
    }

    /// The host and port of a CONNECT as an origin. A CONNECT has no scheme, and `Transport.openTunnel` ignores the scheme that is set
    /// here.
    private func origin(of driver: ExchangeDriver) -> Origin {
        Origin(
            scheme: .http, host: String(decoding: driver.exchange.originHost, as: UTF8.self), port: driver.exchange.originPort)
    }

    /// Why the active settings, apart from the rules, allow no tunnel to this host, or to the address that this descriptor is
    /// connected to.
    func transportFault(of driver: ExchangeDriver, at descriptor: Int32) -> Fault? {
        (driver.transportOfWay ?? driver.worker.transport).denial(of: origin(of: driver), byTunnel: true, at: descriptor).map {
            FaultMapping.fault($0)
        }
    }

    /// Why the active settings, apart from the rules, deny a connection that has switched protocols. They may deny its origin,
    /// or the CONNECT through which the request was sent.
    func switchedFault(of driver: ExchangeDriver, on connection: SwitchedConnection) -> Fault? {
        let origin = Origin(
            scheme: Origin.Scheme(of: driver.exchange), host: String(decoding: driver.exchange.originHost, as: UTF8.self),
            port: driver.exchange.originPort)
        let transport = driver.transportOfWay ?? driver.worker.transport
        let denial = transport.denial(of: origin, byTunnel: false, at: connection)
        let outer = denial == nil && isInside ? transport.denial(of: origin, byTunnel: true, at: connection) : nil
        return (denial ?? outer).map { FaultMapping.fault($0) }
    }

    func opened(_ opening: TunnelOpening, _ descriptor: Int32, for driver: ExchangeDriver) {
        openingEnded(for: driver)
        // The settings may have changed while the connection was opened.
        if let fault = driver.exchange.renewVerdict(under: driver.worker.context) ?? driver.exchange.tunnelFault {
            closeDescriptor(descriptor)
            driver.handle(.upstreamFailed(fault, at: driver.now))
            driver.client?.flush()
            return
        }
        upstream = (descriptor, opening.transport)
        driver.handle(.tunnelOpened(at: driver.now))
    }

    func openingEnded(for driver: ExchangeDriver) {
        opening = nil
        driver.worker.openingTunnels -= 1
    }

    func splice(for driver: ExchangeDriver) {
        if !isIntercepted { driver.recording.noteTunnel(for: driver) }
        // A tunnel may stay open for longer than Larder waits for the end of a recording.
        driver.leaveRecordings()
        if isIntercepted { return intercept(for: driver) }
        guard let connection = driver.connection, let (descriptor, opener) = upstream.take() else { return }
        if !driver.isTransparent { connection.output.buffer.append(Tunnel.greeting) }
        guard let client = connection.handOver() else { return closeDescriptor(descriptor) }
        driver.releaseConnection()
        let worker = driver.worker
        let gate =
            worker.transport.looksIntoTunnels || driver.tunnelNeedsName
            ? ClientHelloInspector(
                worker, to: origin(of: driver), openedBy: opener, via: driver.exchange.tunnelVia) : nil
        Tunnel.start(
            worker, connection: connection, client: client, upstream: SwitchedConnection(descriptor: descriptor), kind: .blind,
            gate: gate, owner: driver)
    }

    private func intercept(for driver: ExchangeDriver) {
        guard let connection = driver.connection else { return }
        if !driver.isTransparent { connection.output.buffer.append(Tunnel.greeting) }
        driver.releaseConnection()
        connection.user = driver.exchange.incoming.sender?.user ?? []
        connection.intercept(
            ConnectInterceptor(
                driver.worker, to: origin(of: driver), kind: driver.exchange.request.target.hostKind,
                via: driver.exchange.tunnelVia, on: connection, owner: driver))
    }

    /// Sends the head to the client, and passes both connections to a tunnel.
    func relaySwitched(for driver: ExchangeDriver) {
        guard let connection = driver.connection, let switched = driver.fetch.takeSwitched() else { return }
        isInside = connection.tunnel != nil
        driver.delivery.writeHead(on: connection) { driver.exchange.writeSwitchedHead(into: &$0) }
        guard let client = connection.handOver() else { return switched.close() }
        driver.releaseConnection()
        Tunnel.start(
            driver.worker, connection: connection, client: client, upstream: switched, kind: .switched, gate: nil, owner: driver)
    }

    func exchangeEnded(for driver: ExchangeDriver) {
        if let opening {
            opening.cancel()
            openingEnded(for: driver)
        }
        upstream = nil
        isIntercepted = false
        isInside = false
        isUsed = false
    }
}

extension ExchangeDriver: TunnelDelegate {
    func tunnel(_ opening: TunnelOpening, didConnect descriptor: Int32, to address: IPAddress?) {
        note(opening)
        tunnel.opened(opening, descriptor, for: self)
    }

    func tunnel(_ opening: TunnelOpening, didFailWith error: TransportError) {
        tunnel.openingEnded(for: self)
        note(opening)
        handle(.upstreamFailed(tellFault(error), at: now))
        client?.flush()
    }

    /// Notes for the log how the attempt to open a tunnel ended.
    func note(_ opening: TunnelOpening) {
        logged.connectOutcome = opening.outcome
        logged.judgedChain = opening.chain
    }

    /// Notes that a tunnel is open and hides its requests, although the host must be intercepted.
    func noteHidden(_ reason: UninspectedReason) {
        logged.uninspected = reason
        recording.noteHiddenTunnel(for: self)
    }

    func tunnelRefused(_ fault: Fault, _ counts: TunnelCounts) {
        note(counts)
        handle(.tunnelRefused(fault, at: now))
    }

    func tunnelEnded(_ counts: TunnelCounts) {
        note(counts)
        handle(.deliveryEnded(isComplete: true, at: now))
    }

    private func note(_ counts: TunnelCounts) {
        delivery.note(tunnelled: counts.toClient)
        upload.note(tunnelled: counts.toUpstream)
    }
}
