import EventLoop
import HTTPMessage
import ServerTrust

/// A separate handshake with a server to verify it; the connection is used for nothing else. Callers that ask for the same verdict during
/// the handshake share the handshake. Confined to its loop.
final class Probe: ConnectObserver {
    private let transport: Transport
    let key: TrustVerdictCache.Key
    private let policy: TrustPolicy
    private var attempt: (any ConnectAttempt)?
    private var judgements: [Judgement] = []

    init(_ transport: Transport, _ key: TrustVerdictCache.Key, by policy: TrustPolicy) {
        self.transport = transport
        self.key = key
        self.policy = policy
    }

    func begin(via: String) {
        transport.probes[key] = self
        var target = ConnectTarget(
            host: key.host, port: key.port, addresses: key.address == nil ? transport.addresses(of: key.host) : [],
            via: via, trust: policy,
            identity: transport.configuration.identities.value(host: key.host, port: key.port), diversion: key.address,
            protocols: [])
        transport.lead(&target, through: transport.tunnelProxy(toHost: key.host, port: key.port))
        attempt = transport.connector.connect(
            to: target, milliseconds: transport.configuration.timeouts.connect, observer: self)
    }

    func add(_ judgement: Judgement) { judgements.append(judgement) }

    /// A caller no longer needs the verdict. The probe ends when no caller needs it.
    func remove(_ judgement: Judgement) {
        judgements.removeAll { $0 === judgement }
        if judgements.isEmpty { end(nil) }
    }

    func fail(_ error: TransportError) { end(.failure(error)) }

    func didConnect(_ peer: ConnectedPeer) {
        attempt = nil
        let lastSecond = peer.channel?.reliableUntil
        // Several callers may share the handshake, but only the first gets the chain.
        judgements.first?.chain = peer.channel?.judgedChain ?? []
        peer.close()
        let isBehindProxy = transport.configuration.leadsThroughProxy
        // Without the server's address, the tunnel could not be opened to the same server.
        if !isBehindProxy, peer.address == nil { return fail(.connectionFailed(code: 0)) }
        let server = VettedServer(address: isBehindProxy ? nil : peer.address)
        if policy.permitsCachedVerdicts(at: transport.wallClock) {
            let connect = transport.configuration.connect
            let now = transport.loop.now
            connect.kept.keep(
                server, for: key, until: now.advanced(milliseconds: connect.keptMilliseconds), lastSecond: lastSecond, at: now)
        }
        end(.success(server))
    }

    func didFailToConnect(_ error: TransportError) {
        attempt = nil
        fail(error)
    }

    private func end(_ result: Result<VettedServer, TransportError>?) {
        attempt?.cancel()
        attempt = nil
        if transport.probes[key] === self { transport.probes[key] = nil }
        let told = judgements
        judgements = []
        guard let result else { return }
        for judgement in told { judgement.tell(result) }
    }
}
