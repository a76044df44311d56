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

    /// The head goes to the client, and both connections to who moves the bytes behind it. Between two sockets the kernel does that.
    func relaySwitched() {
        guard let connection, let switched = fetch.switched else { return }
        fetch.switched = nil
        let before = connection.output.buffer.count
        exchange.writeSwitchedHead(into: &connection.output.buffer)
        delivery.headCount += UInt64(connection.output.buffer.count - before)
        guard let client = connection.handOver() else { return switched.close() }
        releaseConnection()
        if switched.isSecure || client.channel.isSecured {
            SwitchedRelay.start(worker, connection: connection, client: client, origin: switched, owner: self)
        } else {
            Tunnel.start(
                worker, connection: connection, client: client, upstream: switched.letGo(), received: switched.received,
                gate: nil, owner: self)
        }
    }
}
