import HTTPMessage
import HTTPWire
import ParentSelection
import ProxyCore
import ServerTrust
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

/// The way on which an exchange's requests and tunnels leave.
extension ExchangeDriver {
    /// The transport for the way that the rules name, or for the usual way. `nil` if the active settings no longer have the named way.
    var transportOfWay: Transport? {
        guard exchange.obligations.routes, let choice = exchange.matched.upstream else { return worker.transport }
        return worker.transports.transport(through: choice.name)
    }

    /// Adds to a request how parents share it, and who verifies the origin.
    func route(_ request: inout UpstreamRequest, on transport: Transport) {
        guard transport.configuration.parents != nil else { return }
        request.parentKey = KeyHash(of: exchange.routeKey.span)
        guard request.origin.scheme == .https else { return }
        request.verifier = transport.configuration.verifier(
            ofHost: request.origin.host, port: request.origin.port, hasCredentials: exchange.hasCredentials,
            isDelegated: exchange.obligations.routes && exchange.matched.upstream?.isVerifiedByParent == true,
            at: POSIXTime(now))
    }

    /// Notes the way of a request for the log, unless it is direct.
    func noteWay(of transport: Transport) {
        let configuration = transport.configuration
        if configuration.leadsThroughProxy || configuration.wayName != "direct" { logged.way = configuration.wayName }
    }
}
