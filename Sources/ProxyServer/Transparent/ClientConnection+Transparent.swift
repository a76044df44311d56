import HTTPMessage
import ProxyCore
import UpstreamTransport

/// Clients that do not know of the proxy: they connect to an address, and Larder accepts the connection.
extension ClientConnection {
    /// Begins as if the client had sent CONNECT for the origin, or requests in a tunnel to it: rules, interception and limits are the same.
    func begin(to origin: TransparentOrigin) {
        isTransparent = true
        guard origin.isSecure else {
            tunnel = origin.authority
            return
        }
        origin.connectRequest.withUnsafeBytes(keep)
        processInput()
        flush()
    }
}

extension ExchangeDriver {
    /// Whether the ClientHello in the tunnel must name the host. For a client that connected to an origin's address, this is required
    /// unless a rule allows a tunnel for any protocol.
    var tunnelNeedsName: Bool {
        exchange.tunnelNeedsName || (isTransparent && !exchange.tunnelIsForAnyProtocol)
    }

    /// The TLS alert that such a client gets in place of an error response to a CONNECT.
    var transparentAlert: TLSAlert {
        let status = exchange.trace.fault.map { GatewayError($0).status.code }
        return status == 403 ? .accessDenied : .unrecognizedName
    }
}
