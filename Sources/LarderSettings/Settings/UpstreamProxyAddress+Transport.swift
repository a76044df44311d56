import Foundation
import UpstreamTransport

extension UpstreamProxyAddress {
    /// The proxy's address for the transport, with percent-decoded user and password.
    var proxy: UpstreamProxy {
        guard let credentials else { return proxy(with: nil) }
        let parts = credentials.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.removingPercentEncoding ?? String($0) }
        return UpstreamProxy(
            scheme: scheme, host: host, port: port, user: parts[0], password: parts.count > 1 ? parts[1] : "")
    }

    func proxy(with credentials: UpstreamCredentials?) -> UpstreamProxy {
        guard let credentials else { return UpstreamProxy(scheme: scheme, host: host, port: port) }
        return UpstreamProxy(
            scheme: scheme, host: host, port: port, user: credentials.user, password: credentials.password)
    }
}
