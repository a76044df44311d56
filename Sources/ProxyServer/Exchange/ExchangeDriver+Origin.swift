import HTTPMessage
import HTTPWire
import ProxyCore
import UpstreamTransport

/// A discarded fetch may still report events, so only the events of the current fetch are handled.
extension ExchangeDriver: OriginExchangeDelegate {
    func exchange(_ upstream: OriginExchange, didReceiveInformational head: borrowing ResponseHead) {
        if upstream == fetch.upstream { fetch.receive(informational: head, for: self) }
    }

    func exchange(_ upstream: OriginExchange, didReceiveHead head: inout ResponseHead, framing: BodyFraming) {
        if upstream == fetch.upstream { fetch.receive(&head, framing, from: upstream, for: self) }
    }

    func exchange(_ upstream: OriginExchange, didReceiveBody bytes: Span<UInt8>) {
        if upstream == fetch.upstream { fetch.receive(bytes, for: self) }
    }

    func exchange(_ upstream: OriginExchange, didDivertBody count: Int) { fetch.divert(count, for: self) }

    func exchange(_ upstream: OriginExchange, didEndWithTrailers trailers: borrowing Fields) {
        if upstream == fetch.upstream { fetch.end(copy trailers, for: self) }
    }

    func exchange(
        _ upstream: OriginExchange, didSwitchProtocols head: inout ResponseHead, on connection: SwitchedConnection
    ) {
        guard upstream == fetch.upstream else { return connection.close() }
        fetch.receive(switching: &head, from: upstream, on: connection, for: self)
    }

    func exchange(_ upstream: OriginExchange, didFailWith error: TransportError) {
        if upstream == fetch.upstream { fetch.fail(error, from: upstream, for: self) }
    }

    func exchangeIsReadyForBody(_ upstream: OriginExchange) {
        if upstream == fetch.upstream { upload.originTakesMore(for: self) }
    }

    /// Returns the fault for an error. If the server's certificate was rejected, the exchange is also given the details for the client.
    func tellFault(_ error: TransportError) -> Fault {
        if case .untrusted(let failure) = error { tell(.serverRejected(TrustRefusal(failure, port: exchange.originPort))) }
        return FaultMapping.fault(error)
    }
}
