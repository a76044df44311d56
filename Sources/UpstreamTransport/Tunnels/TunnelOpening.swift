import EventLoop
import HTTPMessage
import ServerTrust

/// Receives the result of opening a tunnel, once, and never from within `Transport.openTunnel`.
package protocol TunnelDelegate: AnyObject {
    /// Called when the tunnel is open. The delegate now owns the connected, nonblocking descriptor, and must close it.
    func tunnel(_ tunnel: TunnelOpening, didConnect descriptor: Int32, to address: IPAddress?)
    func tunnel(_ tunnel: TunnelOpening, didFailWith error: TransportError)
}

/// Opens a tunnel (RFC 9110 §9.3.6): a connection to the authority, directly or through the upstream proxy. Tunnels are not counted in the
/// budgets, because each tunnel belongs to a client's own connection. Confined to its loop.
///
/// States and moves: `judging` (if the settings require a probe of the host) → `connecting`, to the very address that was
/// verified → `ended`. If a cached verdict's address cannot be reached, `judging` again. An immediate refusal goes through
/// `decided`, so that it is reported at the end of the batch.
package final class TunnelOpening: ConnectObserver, JudgementDelegate, BatchHandler {
    /// How CONNECT was handled. Set at the start; becomes `probed` if the cached verdict's address could not be reached.
    package private(set) var outcome = ConnectOutcome.tunnelled
    package let transport: Transport
    /// The verified chain, as in `Judgement.chain`.
    package private(set) var chain: [Certificate] = []
    private let origin: Origin
    private let via: String
    private let isPlain: Bool
    /// The limit for verifying and connecting together; it starts again for a second verification. Zero leaves the limit to the
    /// connector.
    private let milliseconds: Int
    private var began: MonotonicTime
    private var delegate: (any TunnelDelegate)?
    private var judgement: Judgement?
    private var attempt: (any ConnectAttempt)?
    private var refusal: TransportError?
    /// The parent that the tunnel is opened through, if the way leads through parents.
    private var parent: ParentAttempt?
    /// The server of the cached verdict, until the connection to it is open.
    private var kept: (server: VettedServer, key: TrustVerdictCache.Key)?

    init(
        _ transport: Transport, to origin: Origin, via: String, isPlain: Bool, milliseconds: Int, delegate: any TunnelDelegate
    ) {
        self.transport = transport
        self.origin = origin
        self.via = via
        self.isPlain = isPlain
        self.delegate = delegate
        self.milliseconds = milliseconds
        began = transport.loop.now
    }

    func begin() {
        if let error = transport.refusalOfConnecting(to: origin) { return refuse(error) }
        let connect = transport.configuration.connect
        guard connect.isGuarding, !isPlain else { return connectAnywhere() }
        let host = origin.judgedHost
        switch connect.wayBeforeHello(host: host, port: origin.port) {
        case .tunnel: connectAnywhere()
        case .deny:
            outcome = .denied
            refuse(connect.deniesHost(host, port: origin.port) ? .hostDenied : .connectDenied)
        case .probe, .intercept:
            transport.tunnels[ObjectIdentifier(self)] = self
            let judgement = transport.judge(host: host, port: origin.port, via: via, delegate: self)
            self.judgement = judgement
            outcome = judgement.isKept ? .probedBefore : .probed
        }
    }

    /// The server may have moved to another address since it was verified.
    private func judgeAgain(_ gone: (server: VettedServer, key: TrustVerdictCache.Key)) {
        transport.configuration.connect.kept.forget(gone.server, for: gone.key)
        outcome = .probed
        began = transport.loop.now
        judgement = transport.judge(host: gone.key.host, port: origin.port, via: via, delegate: self)
    }

    /// Ends the attempt at once. The delegate is not called after that.
    package func cancel() {
        transport.tunnels[ObjectIdentifier(self)] = nil
        delegate = nil
        judgement?.cancel()
        judgement = nil
        attempt?.cancel()
        attempt = nil
        if let parent { parent.group.ended(parent.member) }
        parent = nil
    }

    func fail(_ error: TransportError) {
        guard let delegate else { return }
        cancel()
        delegate.tunnel(self, didFailWith: error)
    }

    package func batchEnded() {
        if let refusal { fail(refusal) }
    }

    package func judgement(_ judgement: Judgement, didEndWith result: Result<VettedServer, TransportError>) {
        self.judgement = nil
        chain = judgement.chain
        switch result {
        case .success(let server):
            if outcome == .probedBefore, server.address != nil, let key = judgement.key { kept = (server, key) }
            // Connects to the address that was verified, even if the name has other addresses by now.
            connect(to: server.address)
        case .failure(let error): fail(error)
        }
    }

    func didConnect(_ peer: ConnectedPeer) {
        attempt = nil
        guard let delegate else { return peer.close() }
        if let parent { parent.group.succeeded(parent.member, at: transport.loop.now) }
        cancel()
        delegate.tunnel(self, didConnect: peer.descriptor, to: peer.address)
    }

    func didFailToConnect(_ error: TransportError) {
        attempt = nil
        if movesToAnotherParent(after: error) { return connect(to: nil) }
        guard let gone = kept else { return fail(error) }
        kept = nil
        judgeAgain(gone)
    }

    private func refuse(_ error: TransportError) {
        refusal = error
        transport.loop.atEndOfBatch(self)
    }

    private func connectAnywhere() {
        transport.tunnels[ObjectIdentifier(self)] = self
        connect(to: nil)
    }

    private func connect(to address: IPAddress?) {
        let left = milliseconds == 0 ? 0 : max(1, milliseconds - transport.loop.now.milliseconds(since: began))
        if parent == nil, let group = transport.configuration.parents {
            parent = ParentAttempt.begin(group, for: transport.parentKey(ofHost: origin.host, port: origin.port))
        }
        let proxy = parent?.proxy ?? transport.configuration.proxy
        attempt = transport.connectTunnel(
            to: origin, at: address, through: proxy, via: via, milliseconds: left, observer: self)
    }

    private func movesToAnotherParent(after error: TransportError) -> Bool {
        guard var next = parent, let failure = error.failure(of: next.proxy, isToParent: false) else { return false }
        parent = next.moveOn(after: failure) ? next : nil
        return parent != nil
    }
}
