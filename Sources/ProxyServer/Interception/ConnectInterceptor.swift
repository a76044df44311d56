import CertificateAuthority
import EventLoop
import HTTPMessage
import HTTPWire
import ProxyCore
import ServerTrust
import TLSChannel
import UpstreamTransport

/// The beginning of an intercepted tunnel. The client's first bytes decide whether Larder answers its requests (inside TLS, or as plain
/// HTTP) or opens a tunnel after all. Until then there is no connection to any server.
///
/// States and moves: `reading`, until the client's first bytes identify the protocol → `handshaking`, if TLS ends here → `ended`, after
/// which the connection reads the requests inside. From `reading` also to `tunnelling`, while a tunnel is being opened. From each to
/// `ended`. Confined to its loop; its connection keeps it alive.
final class ConnectInterceptor: FirstBytesReader, TunnelDelegate {
    private enum State {
        case reading
        case handshaking
        case tunnelling(TunnelOpening)
        case ended
    }

    private let worker: LoopWorker
    private let origin: Origin
    private let via: String
    private let hostKind: RequestTarget.HostKind
    /// The driver that runs the exchange of the CONNECT. The exchange ends when TLS with the client is open, when plain HTTP was
    /// recognized, or when the tunnel is refused. If a tunnel is opened after all, the exchange ends with that tunnel.
    private let owner: ExchangeDriver
    private unowned let connection: ClientConnection
    private lazy var handshake = ClientTLSHandshake(worker, delegate: self)
    /// The received bytes, as long as it is not known that they are TLS.
    private var text: [UInt8] = []
    private var state = State.reading
    /// Why a tunnel that is being opened hides its requests; `nil` if the settings for its host require a tunnel.
    private var uninspected: UninspectedReason?
    /// The host name that the client's TLS session is for.
    private var shownHost: String

    init(
        _ worker: LoopWorker, to origin: Origin, kind: RequestTarget.HostKind, via: String, on connection: ClientConnection,
        owner: ExchangeDriver
    ) {
        self.worker = worker
        self.origin = origin
        hostKind = kind
        self.via = via
        self.connection = connection
        self.owner = owner
        shownHost = origin.host
    }

    /// Whether to read from the client now.
    var takesInput: Bool {
        switch state {
        case .reading: true
        case .handshaking: handshake.takesInput
        case .tunnelling, .ended: false
        }
    }

    /// The bytes that Larder has received from the client before it opens a tunnel or begins TLS.
    private var held: [UInt8] { handshake.octets.isEmpty ? text : handshake.octets }

    /// How long the client may send nothing, in milliseconds.
    var silenceLimit: Int {
        let timeouts = worker.settings.timeouts
        return mustReadRequests ? timeouts.clientHandshake : timeouts.firstOctets
    }

    // MARK: Bytes from the client

    /// Called when the client has closed its sending side.
    /// - Returns: whether the connection continues anyway.
    func inputEnded() -> Bool {
        guard case .reading = state, !held.isEmpty, !mustReadRequests else { return false }
        openTunnel()
        return true
    }

    /// - Parameter octets: the next bytes from the client; not empty.
    func take(_ octets: UnsafeRawBufferPointer) {
        switch state {
        case .reading: octets.withMemoryRebound(to: UInt8.self) { read($0.span) }
        case .handshaking: handshake.take(octets)
        case .tunnelling, .ended: preconditionFailure("nothing was asked for")
        }
    }

    /// Called when the client has left, or the connection ends for another reason.
    func connectionEnded() {
        switch state {
        case .reading, .handshaking: refuse(.clientLeft)
        case .tunnelling: end { $0.tunnelEnded(TunnelCounts()) }
        case .ended: break
        }
    }

    /// - Parameter isLast: whether the connection closes after its output has been written, so that nothing more may begin on it.
    func deadlinePassed(isLast: Bool) {
        switch state {
        // A silent client may wait for the server to send first, as in many protocols, so the tunnel is opened.
        case .reading where !isLast && held.isEmpty && !mustReadRequests: openTunnel()
        case .reading, .handshaking: refuse(.timedOut)
        case .tunnelling, .ended: break
        }
    }

    /// Whether only a client that speaks TLS or HTTP/1 may continue. This applies if TLS with the host may be intercepted, or if rules look
    /// at the method or path of plain-text requests in the tunnel.
    private var mustReadRequests: Bool {
        worker.transport.mayIntercept(tunnelTo: origin) || worker.context.rules.rules(for: plainAuthority).inspecting != nil
    }

    /// Ends the tunnel if the active rules, which may differ from the rules at the time of the CONNECT, deny it.
    private func refusesByRules() -> Bool {
        guard let fault = owner.exchange.renewVerdict(under: worker.context) else { return false }
        refuse(fault, alert: handshake.octets.isEmpty ? nil : .accessDenied)
        return true
    }

    private func read(_ octets: Span<UInt8>) {
        if held.isEmpty { connection.entranceHasBegun() }
        if !handshake.octets.isEmpty { return octets.withUnsafeBytes(handshake.take) }
        text.append(octets)
        switch FirstOctets(text.span) {
        case .undecided: break
        case .tls:
            let octets = text
            text = []
            octets.withUnsafeBytes(handshake.take)
        case .http1: enterPlainHTTP(isHTTP2: false)
        case .http2 where worker.settings.offersHTTP2: enterPlainHTTP(isHTTP2: true)
        case .http2, .other: openTunnelOfOthers()
        }
    }

    private func decide(on hello: ClientHello) {
        if owner.isTransparent, owner.tunnelNeedsName, let refusal = worker.transport.refusal(of: hello, inTunnelTo: origin) {
            return refuse(refusal)
        }
        // The current settings apply, which may differ from those at the time of the CONNECT.
        if refusesByRules() { return }
        switch worker.transport.decideIntercepted(on: hello, inTunnelTo: origin) {
        case .tunnel: openTunnel()
        case .tunnelUninspected(let host, let reason): openTunnel(uninspected: reason, to: host)
        case .refuse(let refusal): refuse(refusal)
        case .intercept(let host): intercept(as: host)
        }
    }

    // MARK: Plain HTTP

    private func enterPlainHTTP(isHTTP2: Bool) {
        if refusesByRules() { return }
        owner.logged.connectOutcome = .plainHTTP
        let octets = held
        end { $0.tunnelEnded(TunnelCounts()) }
        octets.withUnsafeBytes { connection.enter(plainAuthority, plain: $0, isHTTP2: isHTTP2) }
    }

    /// The authority of plain-text requests. If the tunnel is to an address, the requests must name the host, as clients that resolve names
    /// themselves do.
    private var plainAuthority: TunnelAuthority {
        authority(
            .http, host: origin.host, kind: hostKind,
            isNamedInside: !owner.isTransparent && worker.transport.isNamedInside(tunnelTo: origin))
    }

    /// The authority of requests inside TLS: as written by the client, unless the tunnel is to an address and the ClientHello names the
    /// host.
    private var secureAuthority: TunnelAuthority {
        if shownHost == origin.judgedHost { return authority(.https, host: origin.host, kind: hostKind) }
        let kind: RequestTarget.HostKind =
            switch ReferenceIdentity(shownHost) {
            case .address(let address): address.family == .ipv4 ? .ipv4 : .ipv6
            case .name, nil: .name
            }
        return authority(.https, host: shownHost, kind: kind)
    }

    private func authority(
        _ scheme: RequestTarget.Scheme, host: String, kind: RequestTarget.HostKind, isNamedInside: Bool = false
    ) -> TunnelAuthority {
        TunnelAuthority(scheme: scheme, host: Array(host.utf8), kind: kind, port: origin.port, isNamedInside: isNamedInside)
    }

    // MARK: TLS

    private func intercept(as host: String) {
        shownHost = host
        guard let name = try? LeafName(host) else { return refuse(.noLeaf(.noName)) }
        state = .handshaking
        handshake.issue(for: name)
        // The client is likely to request something from a host that is new here: the origin's handshake runs in parallel with the
        // client's.
        guard handshake.awaitsLeaf, case .connect = worker.context.preconnectDecision(for: secureAuthority) else { return }
        worker.transport.prepare(Origin(scheme: .https, host: host, port: origin.port), via: via)
    }

    // MARK: Tunnels without interception

    /// Opens or refuses the tunnel of a client that uses neither TLS nor HTTP/1, whose bytes Larder cannot inspect.
    private func openTunnelOfOthers() {
        guard worker.transport.mayIntercept(tunnelTo: origin) else {
            return mustReadRequests ? refuse(FaultMapping.fault(.hiddenFromRules), alert: nil) : openTunnel()
        }
        guard worker.transport.permitsUninspected(tunnelTo: origin) else { return refuse(.notTLS) }
        let rules = worker.context.rules.rules(for: plainAuthority)
        if rules.naming != nil || rules.withholding != nil {
            return refuse(FaultMapping.fault(.hiddenFromRules), alert: nil)
        }
        openTunnel(.notTLS)
    }

    /// Opens a tunnel whose TLS hides its requests from rules.
    private func openTunnel(uninspected reason: UninspectedReason, to host: String) {
        shownHost = host
        let rules = worker.context.rules.rules(for: secureAuthority)
        if rules.withholding == nil { return openTunnel(reason) }
        // The client uses HTTP/1, so it can be intercepted. The certificate may have been rejected by a different client.
        if reason == .certificateRefused { return intercept(as: host) }
        refuse(rules.closing != nil ? .closedByRule : .hiddenFromRules)
    }

    private func openTunnel(_ uninspected: UninspectedReason? = nil) {
        if refusesByRules() { return }
        owner.tell(.tunnelPlanned)
        if let fault = owner.exchange.tunnelFault { return refuse(fault, alert: handshake.octets.isEmpty ? nil : .accessDenied) }
        guard let way = owner.transportOfWay else {
            return refuse(.upstreamProxyRefused, alert: handshake.octets.isEmpty ? nil : .accessDenied)
        }
        self.uninspected = uninspected
        owner.noteWay(of: way)
        let opening = way.openTunnel(to: origin, via: via, isPlain: uninspected == .notTLS, delegate: self)
        owner.logged.connectOutcome = opening.outcome
        state = .tunnelling(opening)
        worker.openingTunnels += 1
        connection.setDeadline(worker.settings.timeouts.tunnelIdle)
    }

    func tunnel(_ opening: TunnelOpening, didConnect descriptor: Int32, to address: IPAddress?) {
        worker.openingTunnels -= 1
        state = .ended
        owner.note(opening)
        if let fault = owner.exchange.renewVerdict(under: worker.context) ?? owner.exchange.tunnelFault {
            closeDescriptor(descriptor)
            owner.tunnelRefused(fault, TunnelCounts())
            return connection.endInterception(with: handshake.octets.isEmpty ? nil : .accessDenied)
        }
        guard let client = connection.handOver(holding: held) else { return closeDescriptor(descriptor) }
        let gate =
            (worker.transport.looksIntoTunnels && uninspected != .notTLS) || owner.tunnelNeedsName
            ? ClientHelloInspector(
                worker, to: origin, openedBy: opening.transport, via: via) : nil
        Tunnel.start(
            worker, connection: connection, client: client, upstream: SwitchedConnection(descriptor: descriptor), kind: .blind,
            gate: gate, uninspected: uninspected, owner: owner)
    }

    func tunnel(_ opening: TunnelOpening, didFailWith error: TransportError) {
        worker.openingTunnels -= 1
        state = .ended
        owner.note(opening)
        owner.tunnelRefused(owner.tellFault(error), TunnelCounts())
        connection.endInterception(with: handshake.octets.isEmpty ? nil : .unrecognizedName)
    }

    // MARK: End of the interception

    private func refuse(_ refusal: TunnelRefusal) { refuse(FaultMapping.fault(refusal), alert: refusal.alert) }

    /// - Parameter alert: the alert for a client that uses TLS.
    private func refuse(_ fault: Fault, alert: TLSAlert?) {
        end { $0.tunnelRefused(fault, TunnelCounts()) }
        // TLS's own alert is already in the output.
        connection.endInterception(with: handshake.hasSession ? nil : alert)
    }

    /// Cancels work in flight, and ends the CONNECT's exchange.
    private func end(_ tell: (ExchangeDriver) -> Void) {
        let former = state
        state = .ended
        switch former {
        case .handshaking: handshake.end()
        case .tunnelling(let opening):
            opening.cancel()
            worker.openingTunnels -= 1
        case .reading, .ended: break
        }
        tell(owner)
    }
}

extension ConnectInterceptor: ClientTLSHandshakeDelegate {
    func handshake(_ handshake: ClientTLSHandshake, didRead hello: ClientHello) { decide(on: hello) }

    func handshakeDidReadOtherProtocol(_ handshake: ClientTLSHandshake) { openTunnelOfOthers() }

    func terms(of handshake: ClientTLSHandshake) -> (context: ServerTLSContext, scope: [UInt8])? {
        guard let context = worker.interception?.context else { return nil }
        // A session ticket is only valid for this host and port.
        return (context, SHA256Digest(of: Array("\(shownHost):\(origin.port)".utf8)).octets)
    }

    func handshake(_ handshake: ClientTLSHandshake, didBegin session: TLSSession) {
        owner.logged.connectOutcome = .intercepted
        connection.beginTLS(session)
    }

    func handshake(_ handshake: ClientTLSHandshake, didOpen session: TLSSession, with records: UnsafeRawBufferPointer) {
        end { $0.tunnelEnded(TunnelCounts()) }
        connection.enter(secureAuthority, sealed: records, isHTTP2: session.isForHTTP2)
    }

    func handshake(_ handshake: ClientTLSHandshake, didFailBy refusal: TunnelRefusal, _ detail: String?) {
        if case .refusedByClient = refusal { worker.transport.noteRefusal(host: shownHost, port: origin.port) }
        refuse(refusal)
    }
}
