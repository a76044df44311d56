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
/// States and moves: `reading`, until the client's first bytes say what it speaks → `awaitingLeaf`, where TLS is to end here →
/// `queued` → `beginning`, on another thread → `handshaking` → `ended`, the connection's requests being read from then on as those inside. From `reading` also to
/// `tunnelling`, a tunnel being opened. From each to `ended`. Confined to its loop; its connection keeps it.
final class ConnectInterceptor: TunnelDelegate, QueuedHandshake {
    private enum State {
        case reading
        case awaitingLeaf(Reply<LeafCertificateCache.Answer>)
        case queued(Leaf)
        case beginning
        case handshaking(ServerTLSSession)
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
    private var reader: ClientHelloReader
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
        reader = ClientHelloReader(limits: worker.settings.parseLimits)
    }

    /// Whether what the client sends is to be read now.
    var takesInput: Bool {
        switch state {
        case .reading, .handshaking: true
        case .awaitingLeaf, .queued, .beginning, .tunnelling, .ended: false
        }
    }

    var awaitsHandshake: Bool {
        if case .queued = state { true } else { false }
    }

    /// Everything that came before TLS with us.
    private var held: [UInt8] { reader.octets.isEmpty ? text : reader.octets }

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
        case .handshaking(let session): handshake(session, octets)
        case .awaitingLeaf, .queued, .beginning, .tunnelling, .ended: preconditionFailure("nothing was asked for")
        }
    }

    /// The client has left, or the connection ends for another reason.
    func connectionEnded() {
        switch state {
        case .reading, .awaitingLeaf, .queued, .beginning, .handshaking: refuse(.clientLeft)
        case .tunnelling: end { $0.tunnelEnded(TunnelCounts()) }
        case .ended: break
        }
    }

    /// - Parameter isLast: no more is begun on this connection.
    func deadlinePassed(isLast: Bool) {
        switch state {
        // Who sends nothing waits for the server to speak, as in many protocols.
        case .reading where !isLast && held.isEmpty && !worker.transport.mayIntercept(tunnelTo: origin): openTunnel()
        case .reading, .awaitingLeaf, .queued, .beginning, .handshaking: refuse(.timedOut)
        case .tunnelling, .ended: break
        }
    }

    private func read(_ octets: Span<UInt8>) {
        if held.isEmpty { connection.entranceHasBegun() }
        if !reader.octets.isEmpty { return readHello(octets) }
        text.append(octets)
        switch FirstOctets(text.span) {
        case .undecided: break
        case .tls:
            let octets = text
            text = []
            readHello(octets.span)
        case .http1: enterPlainHTTP()
        case .http2, .other: openTunnelOfOthers()
        }
    }

    private func readHello(_ octets: Span<UInt8>) {
        do throws(ClientHelloFault) {
            switch try reader.take(octets) {
            case .needsMore: break
            case .hello(let hello): decide(on: hello)
            case .notTLS: openTunnelOfOthers()
            }
        } catch {
            refuse(.unreadable(error))
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
        guard let leaves = worker.interception?.leaves else { return refuse(.noLeaf(.noAuthority)) }
        guard let name = try? LeafName(host) else { return refuse(.noLeaf(.noName)) }
        let now = POSIXTime(worker.now)
        if let leaf = leaves.leaf(for: name, at: now) { return queue(leaf) }
        let reply = worker.loop.reply { [weak self] (answer: LeafCertificateCache.Answer) in
            guard let self, case .awaitingLeaf = state else { return }
            switch answer {
            case .success(let leaf): queue(leaf)
            case .failure(let missing): refuse(.noLeaf(missing))
            }
        }
        state = .awaitingLeaf(reply)
        leaves.make(name, at: now, on: worker.shared.leafMaker.handle, reply: reply)
        // A host not seen lately is likely to be asked: its handshake goes on beside the client's.
        guard case .connect = worker.context.preconnectDecision(for: secureAuthority) else { return }
        worker.transport.prepare(Origin(scheme: .https, host: host, port: origin.port), via: via)
    }

    private func queue(_ leaf: Leaf) {
        state = .queued(leaf)
        worker.handshakes.add(self)
    }

    func beginHandshake() -> HandshakeBeginning? {
        guard case .queued(let leaf) = state else { return nil }
        state = .beginning
        guard let context = worker.interception?.context else {
            refuse(.noLeaf(.noAuthority))
            return nil
        }
        // A ticket is good for this host alone, and for this port.
        let scope = SHA256Digest(of: Array("\(shownHost):\(origin.port)".utf8)).octets
        return HandshakeBeginning(context: context, shown: .leaf(leaf), scope: scope, octets: reader.octets)
    }

    func handshakeBegan(_ begun: BegunHandshake?) {
        guard case .beginning = state else { return }
        guard let begun else { return refuse(.noLeaf(.failed)) }
        state = .handshaking(begun.session)
        owner.delivery.connectOutcome = .intercepted
        connection.channel.begin(begun.session)
        let octets = reader.octets
        octets.withUnsafeBytes { goOn(begun.progress, of: begun.session, behind: $0) }
        connection.flush()
    }

    func giveWay() { refuse(.gaveWay) }

    private func handshake(_ session: ServerTLSSession, _ octets: UnsafeRawBufferPointer) {
        goOn(session.handshake(octets), of: session, behind: octets)
    }

    /// - Parameter octets: with which the handshake has come so far.
    private func goOn(
        _ progress: ServerTLSSession.Handshake, of session: ServerTLSSession, behind octets: UnsafeRawBufferPointer
    ) {
        switch progress {
        case .needsMore: break
        case .established(let taken):
            end { $0.tunnelEnded(TunnelCounts()) }
            connection.enter(secureAuthority, sealed: UnsafeRawBufferPointer(rebasing: octets[taken...]))
        case .failed(.refusedByClient(let number)):
            let alert = TLSAlert(number)
            guard alert.isOfCertificate else { return refuse(.clientAlert(alert)) }
            worker.transport.noteRefusal(host: shownHost, port: origin.port)
            refuse(.refusedByClient(alert))
        case .failed(.protocolError), .failed(.clientNotCertified): refuse(.clientHandshakeFailed)
        }
    }

    // MARK: A tunnel after all

    /// For a client that speaks neither TLS nor HTTP/1: Larder cannot look into that.
    private func openTunnelOfOthers() {
        guard worker.transport.mayIntercept(tunnelTo: origin) else { return openTunnel() }
        guard worker.transport.permitsUninspected(tunnelTo: origin) else { return refuse(.notTLS) }
        let rules = worker.context.rules.rules(for: plainAuthority)
        if rules.naming != nil || rules.withholding != nil { return refuse(.hiddenFromRules, alert: nil) }
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
        if owner.isTunnelClosedByRule { return refuse(.closedByRule) }
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
            worker.transport.looksIntoTunnels && uninspected != .notTLS
            ? ClientHelloInspector(worker, to: origin, openedBy: opening.transport, via: via) : nil
        Tunnel.start(
            worker, connection: connection, client: client, upstream: SwitchedConnection(descriptor: descriptor), kind: .blind,
            gate: gate, uninspected: uninspected, owner: owner)
    }

    func tunnel(_ opening: TunnelOpening, didFailWith error: TransportError) {
        worker.openingTunnels -= 1
        state = .ended
        owner.note(opening)
        owner.tunnelRefused(owner.tellFault(error), TunnelCounts())
        connection.endInterception(with: reader.octets.isEmpty ? nil : .unrecognizedName)
    }

    // MARK: Ends

    private func refuse(_ refusal: TunnelRefusal) { refuse(refusal, alert: refusal.alert) }

    /// - Parameter alert: for a client that speaks TLS.
    private func refuse(_ refusal: TunnelRefusal, alert: TLSAlert?) {
        // What TLS has to say by itself stands in the output already.
        let isInTLS = if case .handshaking = state { true } else { false }
        end { $0.tunnelRefused(FaultMapping.fault(refusal), TunnelCounts()) }
        connection.endInterception(with: isInTLS ? nil : alert)
    }

    /// Lets go of what is under way, and has the CONNECT's exchange end.
    private func end(_ tell: (ExchangeDriver) -> Void) {
        let former = state
        state = .ended
        switch former {
        case .awaitingLeaf(let reply): worker.loop.forget(reply)
        case .tunnelling(let opening):
            opening.cancel()
            worker.openingTunnels -= 1
        case .beginning, .handshaking: worker.handshakes.ended(self)
        case .queued: worker.handshakes.left()
        case .reading, .ended: break
        }
        tell(owner)
    }
}
