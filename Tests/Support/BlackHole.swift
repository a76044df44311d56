import CLarderLinux
import Glibc

/// A loopback port with a full connection queue: connections to it wait without a response.
package final class BlackHole {
    package let port: UInt16
    private var descriptors: [Int32] = []

    /// - Parameters:
    ///   - host: for IPv4, the last number of 127.0.0.N.
    ///   - port: 0 for any free port.
    package init(ipv6: Bool = false, host: UInt8 = 1, port: UInt16 = 0) {
        let listener = socket(ipv6 ? AF_INET6 : AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
        precondition(LoopbackAddress.bind(listener, ipv6: ipv6, port: port, host: host), "the port is taken")
        listen(listener, 0)
        self.port = LoopbackAddress.localPort(of: listener)
        descriptors = [listener]
        // Linux accepts one more than the queue's length; others then wait half open.
        for _ in 0..<3 { descriptors.append(LoopbackAddress.beginToConnect(to: self.port, ipv6: ipv6, host: host)) }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
