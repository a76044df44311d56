import HTTPMessage
import ProxyCore
import UpstreamTransport

/// Connections that go over to another protocol (RFC 9110 §7.8).
extension ExchangeDriver {
    func exchange(
        _ upstream: OriginExchange, didSwitchProtocols head: inout ResponseHead, on connection: SwitchedConnection
    ) {
        guard upstream == fetch.upstream else { return connection.close() }
        fetch.upstream = nil
        fetch.switched = connection
        swap(&receivedHead.head, &head)
        noteMetrics(of: upstream)
        handle(.protocolSwitched(receivedHead, at: worker.now))
        self.connection?.flushSoon()
    }

    /// The head goes to the client, and both connections to the tunnel that moves the bytes behind it.
    func relaySwitched() {
        guard let connection, let switched = fetch.switched else { return }
        fetch.switched = nil
        let before = connection.output.buffer.count
        exchange.writeSwitchedHead(into: &connection.output.buffer)
        delivery.headCount += UInt64(connection.output.buffer.count - before)
        guard let client = connection.handOver() else { return switched.close() }
        releaseConnection()
        Tunnel.start(
            worker, connection: connection, client: client, upstream: switched, kind: .switched, gate: nil, owner: self)
    }
}
