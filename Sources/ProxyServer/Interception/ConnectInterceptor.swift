import CertificateAuthority
import EventLoop
import HTTPMessage
import HTTPWire
import ProxyCore
import ServerTrust
import TLSChannel
import UpstreamTransport

/// The beginning of a tunnel that is entered: what its client sends first decides whether it is answered here, inside TLS or in plain
/// HTTP, or gets a tunnel after all. Until then nobody is connected to.
///
/// States and moves: `reading`, until the client's first bytes say what it speaks → `handshaking`, where TLS is to end here → `ended`, the
/// connection's requests being read from then on as those inside. From `reading` also to `tunnelling`, a tunnel being opened. From each to
/// `ended`. Confined to its loop; its connection keeps it.
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
    /// Carries the exchange of the CONNECT, which ends when it is decided.
    private let owner: ExchangeDriver
    private unowned let connection: ClientConnection
    private lazy var handshake = ClientTLSHandshake(worker, delegate: self)
    /// What came, where it is no TLS or not yet known to be any.
    private var text: [UInt8] = []
    private var state = State.reading
    /// Why a tunnel that is being opened hides its requests; `nil`: its host's settings ask for it.
    private var uninspected: UninspectedReason?
    /// As whom TLS is spoken with the client.
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

    /// Whether what the client sends is to be read now.
    var takesInput: Bool {
        switch state {
        case .reading: true
        case .handshaking: handshake.takesInput
        case .tunnelling, .ended: false
        }
    }

    /// Everything that came before TLS with us.
    private var held: [UInt8] { handshake.octets.isEmpty ? text : handshake.octets }

    /// How long the client may say nothing.
    var silenceLimit: Int {
        let timeouts = worker.settings.timeouts
        return worker.transport.mayIntercept(tunnelTo: origin) ? timeouts.clientHandshake : timeouts.firstOctets
    }

    // MARK: What comes from the client

    /// It sends no more.
    /// - Returns: whether something comes of it all the same.
    func inputEnded() -> Bool {
        guard case .reading = state, !held.isEmpty, !worker.transport.mayIntercept(tunnelTo: origin) else { return false }
        openTunnel()
        return true
    }

    /// - Parameter octets: not empty.
    func take(_ octets: UnsafeRawBufferPointer) {
        switch state {
        case .reading: octets.withMemoryRebound(to: UInt8.self) { read($0.span) }
        case .handshaking: handshake.take(octets)
        case .tunnelling, .ended: preconditionFailure("nothing was asked for")
        }
    }

    /// The client has left, or the connection ends for another reason.
    func connectionEnded() {
        switch state {
        case .reading, .handshaking: refuse(.clientLeft)
        case .tunnelling: end { $0.tunnelEnded(TunnelCounts()) }
        case .ended: break
        }
    }

    /// - Parameter isLast: no more is begun on this connection.
    func deadlinePassed(isLast: Bool) {
        switch state {
        // Who sends nothing waits for the server to speak, as in many protocols.
        case .reading where !isLast && held.isEmpty && !worker.transport.mayIntercept(tunnelTo: origin): openTunnel()
        case .reading, .handshaking: refuse(.timedOut)
        case .tunnelling, .ended: break
        }
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
        case .http1: enterPlainHTTP()
        case .http2, .other: openTunnelOfOthers()
        }
    }

    private func decide(on hello: ClientHello) {
        // By the settings of now, which may be other ones than when the tunnel was asked for.
        switch worker.transport.decideIntercepted(on: hello, inTunnelTo: origin) {
        case .tunnel: openTunnel()
        case .tunnelUninspected(let host, let reason): openTunnel(uninspected: reason, to: host)
        case .refuse(let refusal): refuse(refusal)
        case .intercept(let host): intercept(as: host)
        }
    }

    // MARK: Plain HTTP

    private func enterPlainHTTP() {
        owner.delivery.connectOutcome = .plainHTTP
        let octets = held
        end { $0.tunnelEnded(TunnelCounts()) }
        octets.withUnsafeBytes { connection.enter(plainAuthority, plain: $0) }
    }

    /// Of requests in plain text. Whom an address stands for they have to say, as clients do that look names up by themselves.
    private var plainAuthority: TunnelAuthority {
        authority(
            .http, host: origin.host, kind: hostKind, isNamedInside: worker.transport.isNamedInside(tunnelTo: origin))
    }

    /// Of the requests inside TLS: as the client has written it, unless an address stands for somebody whom the ClientHello names.
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
        // A host not seen lately is likely to be asked: its handshake goes on beside the client's.
        guard handshake.awaitsLeaf, case .connect = worker.context.preconnectDecision(for: secureAuthority) else { return }
        worker.transport.prepare(Origin(scheme: .https, host: host, port: origin.port), via: via)
    }

    // MARK: A tunnel after all

    /// For a client that speaks neither TLS nor HTTP/1: Larder cannot look into that.
    private func openTunnelOfOthers() {
        guard worker.transport.mayIntercept(tunnelTo: origin) else { return openTunnel() }
        guard worker.transport.permitsUninspected(tunnelTo: origin) else { return refuse(.notTLS) }
        let rules = worker.context.rules.rules(for: plainAuthority)
        if rules.naming != nil || rules.withholding != nil {
            return refuse(FaultMapping.fault(.hiddenFromRules), alert: nil)
        }
        openTunnel(.notTLS)
    }

    /// A tunnel whose TLS hides its requests from the rules.
    private func openTunnel(uninspected reason: UninspectedReason, to host: String) {
        shownHost = host
        let rules = worker.context.rules.rules(for: secureAuthority)
        if rules.withholding == nil { return openTunnel(reason) }
        // The client speaks HTTP/1: it can be intercepted, and may be another one than the client that has refused the certificate.
        if reason == .certificateRefused { return intercept(as: host) }
        refuse(rules.closing != nil ? .closedByRule : .hiddenFromRules)
    }

    private func openTunnel(_ uninspected: UninspectedReason? = nil) {
        if let fault = owner.exchange.tunnelFault { return refuse(fault, alert: .accessDenied) }
        self.uninspected = uninspected
        let opening = worker.transport.openTunnel(to: origin, via: via, isPlain: uninspected == .notTLS, delegate: self)
        owner.delivery.connectOutcome = opening.outcome
        state = .tunnelling(opening)
        worker.openingTunnels += 1
        connection.setDeadline(worker.settings.timeouts.tunnelIdle)
    }

    func tunnel(_ opening: TunnelOpening, didConnect descriptor: Int32, to address: IPAddress?) {
        worker.openingTunnels -= 1
        state = .ended
        owner.note(opening)
        guard let client = connection.handOver(holding: held) else { return closeDescriptor(descriptor) }
        let gate =
            (worker.transport.looksIntoTunnels && uninspected != .notTLS) || owner.exchange.tunnelNeedsName
            ? ClientHelloInspector(
                worker, to: origin, openedBy: opening.transport, via: via, needsName: owner.exchange.tunnelNeedsName) : nil
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

    // MARK: Ends

    private func refuse(_ refusal: TunnelRefusal) { refuse(FaultMapping.fault(refusal), alert: refusal.alert) }

    /// - Parameter alert: for a client that speaks TLS.
    private func refuse(_ fault: Fault, alert: TLSAlert?) {
        end { $0.tunnelRefused(fault, TunnelCounts()) }
        // What TLS has to say by itself stands in the output already.
        connection.endInterception(with: handshake.hasSession ? nil : alert)
    }

    /// Lets go of what is under way, and has the CONNECT's exchange end.
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
        // A ticket is good for this host alone, and for this port.
        return (context, SHA256Digest(of: Array("\(shownHost):\(origin.port)".utf8)).octets)
    }

    func handshake(_ handshake: ClientTLSHandshake, didBegin session: ServerTLSSession) {
        owner.delivery.connectOutcome = .intercepted
        connection.beginTLS(session)
    }

    func handshake(_ handshake: ClientTLSHandshake, didOpen session: ServerTLSSession, with records: UnsafeRawBufferPointer) {
        end { $0.tunnelEnded(TunnelCounts()) }
        connection.enter(secureAuthority, sealed: records)
    }

    func handshake(_ handshake: ClientTLSHandshake, didFailBy refusal: TunnelRefusal, _ detail: String?) {
        if case .refusedByClient = refusal { worker.transport.noteRefusal(host: shownHost, port: origin.port) }
        refuse(refusal)
    }
}
