import EventLoop
import ServerTrust

extension Transport {
    /// Makes one handshake with an https origin, on the route that requests to it would take. It closes the connection as soon as
    /// the host's trust policy has evaluated the server.
    /// - Parameter completion: called on the loop, never from within this call; not called if the transport is closed first.
    package func judgeServer(
        of origin: Origin, _ completion: @escaping (Result<TrustVerdict, TransportError>) -> Void
    ) {
        JudgedHandshake(loop, completion).begin(on: self, origin)
    }
}

/// A handshake without a request. The handshake is not counted in the budgets. Confined to its loop; the loop or the connector keeps it
/// until it ends.
private final class JudgedHandshake: ConnectObserver, BatchHandler {
    private let loop: EventLoop
    private let completion: (Result<TrustVerdict, TransportError>) -> Void
    private var refusal: TransportError?

    init(_ loop: EventLoop, _ completion: @escaping (Result<TrustVerdict, TransportError>) -> Void) {
        self.loop = loop
        self.completion = completion
    }

    func begin(on transport: Transport, _ origin: Origin) {
        do throws(TransportError) {
            let target = try transport.target(judging: origin)
            _ = transport.connector.connect(to: target, milliseconds: transport.configuration.timeouts.connect, observer: self)
        } catch {
            refusal = error
            loop.atEndOfBatch(self)
        }
    }

    func batchEnded() {
        if let refusal { completion(.failure(refusal)) }
    }

    func didConnect(_ peer: ConnectedPeer) {
        let verdict = peer.channel?.verdict
        peer.close()
        completion(verdict.map { .success($0) } ?? .failure(.tlsFailed))
    }

    func didFailToConnect(_ error: TransportError) { completion(.failure(error)) }
}

extension Transport {
    fileprivate func target(judging origin: Origin) throws(TransportError) -> ConnectTarget {
        if let refusal = refusalOfConnecting(to: origin) { throw refusal }
        var target = ConnectTarget(
            host: origin.host, port: origin.port, addresses: addresses(of: origin.host),
            trust: try policy(host: origin.host, port: origin.port),
            identity: configuration.identities.value(host: origin.host, port: origin.port))
        lead(&target, through: tunnelProxy(toHost: origin.host, port: origin.port))
        return target
    }
}
