import EventLoop
import HTTPMessage

/// An attempt to connect through a SOCKS5 proxy to an address that Larder has looked up and checked. libcurl speaks SOCKS5 (RFC 1928).
/// Confined to its loop.
///
/// States and moves: `lookingUp` (if only the name is known) → `connecting` → `ended`. A refusal is reported at the end of the batch.
final class SOCKSAttempt: ConnectAttempt, ConnectObserver, BatchHandler {
    private enum State {
        case lookingUp((any ConnectAttempt)?)
        case connecting((any ConnectAttempt)?)
        case refused(TransportError)
        case ended
    }

    private unowned let connector: Connector
    private let loop: EventLoop
    private var target: ConnectTarget
    private let milliseconds: Int
    private let began: MonotonicTime
    private var observer: (any ConnectObserver)?
    private var state = State.ended

    init(
        _ connector: Connector, on loop: EventLoop, to target: ConnectTarget, milliseconds: Int, observer: any ConnectObserver
    ) {
        self.connector = connector
        self.loop = loop
        self.target = target
        self.milliseconds = milliseconds
        self.observer = observer
        began = loop.now
        let host = Array(target.connectedHost.utf8)
        if let address = IPAddress(asLookedUp: host.span) {
            connect(toFirstOf: [address])
        } else if !target.addresses.isEmpty {
            connect(toFirstOf: target.addresses)
        } else {
            var question = ConnectTarget(host: target.host, port: target.port)
            question.looksUpOnly = true
            state = .lookingUp(nil)
            state = .lookingUp(connector.openPlainly(question, milliseconds: milliseconds, observer: self))
        }
    }

    func cancel() {
        observer = nil
        switch state {
        case .lookingUp(let attempt), .connecting(let attempt): attempt?.cancel()
        case .refused, .ended: break
        }
        state = .ended
    }

    func batchEnded() {
        if case .refused(let error) = state { didFailToConnect(error) }
    }

    func didConnect(_ peer: ConnectedPeer) {
        if case .lookingUp = state, let address = peer.address { return connect(toFirstOf: [address]) }
        state = .ended
        let observer = observer.take()
        if let observer { observer.didConnect(peer) } else { peer.close() }
    }

    func didFailToConnect(_ error: TransportError) {
        state = .ended
        observer.take()?.didFailToConnect(error)
    }

    /// Connects to the first address that the address policy permits.
    private func connect(toFirstOf addresses: [IPAddress]) {
        let refusals = addresses.map { connector.destinations.refusal(of: $0, port: target.port) }
        guard let permitted = refusals.firstIndex(where: { $0 == nil }) else {
            state = .refused(refusals[0] ?? .connectionFailed(code: 0))
            return loop.atEndOfBatch(self)
        }
        target.diversion = addresses[permitted]
        let left = milliseconds == 0 ? 0 : max(1, milliseconds - loop.now.milliseconds(since: began))
        state = .connecting(connector.openPlainly(target, milliseconds: left, observer: self))
    }
}
