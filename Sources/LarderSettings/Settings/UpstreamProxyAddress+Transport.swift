import Foundation
import UpstreamTransport

extension UpstreamProxyAddress {
    /// As the transport wants it: user and password with their percent-encoding undone.
    var proxy: UpstreamProxy {
        guard let credentials else { return UpstreamProxy(host: host, port: port) }
        let parts = credentials.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.removingPercentEncoding ?? String($0) }
        return UpstreamProxy(host: host, port: port, user: parts[0], password: parts.count > 1 ? parts[1] : "")
    }
}
