import EventLoop
import HTTPMessage

/// Hears how the opening of a tunnel ended, once, and never from within `Transport.openTunnel`.
package protocol TunnelDelegate: AnyObject {
    /// The connected, non-blocking descriptor is the delegate's from here on, to close too.
    func tunnel(_ tunnel: TunnelOpening, didConnect descriptor: Int32, to address: IPAddress?)
    func tunnel(_ tunnel: TunnelOpening, didFailWith error: TransportError)
}

/// A tunnel being opened (RFC 9110 §9.3.6): a connection to the authority, or through the upstream proxy to it.
/// Not counted in the budgets: each belongs to a client's own connection. Confined to its loop.
package final class TunnelOpening: ConnectObserver, BatchHandler {
    private let transport: Transport
    private var delegate: (any TunnelDelegate)?
    private var attempt: (any ConnectAttempt)?
    private var refusal: TransportError?

    init(_ transport: Transport, delegate: any TunnelDelegate) {
        self.transport = transport
        self.delegate = delegate
    }

    func begin(to origin: Origin, via: String, milliseconds: Int) {
        if let error = transport.refusalOfTunnel(to: origin) {
            refusal = error
            transport.loop.atEndOfBatch(self)
            return
        }
        transport.tunnels[ObjectIdentifier(self)] = self
        attempt = transport.connectTunnel(to: origin, via: via, milliseconds: milliseconds, observer: self)
    }

    /// Ends the attempt at once. The delegate hears nothing any more.
    package func cancel() {
        transport.tunnels[ObjectIdentifier(self)] = nil
        delegate = nil
        attempt?.cancel()
        attempt = nil
    }

    func fail(_ error: TransportError) {
        guard let delegate else { return }
        cancel()
        delegate.tunnel(self, didFailWith: error)
    }

    package func batchEnded() {
        if let refusal { fail(refusal) }
    }

    func didConnect(_ peer: ConnectedPeer) {
        attempt = nil
        guard let delegate else { return peer.close() }
        cancel()
        delegate.tunnel(self, didConnect: peer.descriptor, to: peer.address)
    }

    func didFailToConnect(_ error: TransportError) {
        attempt = nil
        fail(error)
    }
}
