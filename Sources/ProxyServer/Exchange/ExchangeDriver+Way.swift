import HTTPMessage
import ParentSelection
import ProxyCore
import ServerTrust
import UpstreamTransport

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
