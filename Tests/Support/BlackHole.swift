import CLinux
import Glibc

/// A loopback port whose queue of connections is full: whoever connects to it waits without an answer.
package final class BlackHole {
    package let port: UInt16
    private var descriptors: [Int32] = []

    /// - Parameters:
    ///   - host: of IPv4, the last number of 127.0.0.N.
    ///   - port: Zero takes any free one.
    package init(ipv6: Bool = false, host: UInt8 = 1, port: UInt16 = 0) {
        let listener = socket(ipv6 ? AF_INET6 : AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
        precondition(LoopbackAddress.bind(listener, ipv6: ipv6, port: port, host: host), "the port is taken")
        listen(listener, 0)
        self.port = LoopbackAddress.localPort(of: listener)
        descriptors = [listener]
        // Linux takes one more than the queue's length; the others then wait in the queue of those half open.
        for _ in 0..<3 { descriptors.append(LoopbackAddress.beginToConnect(to: self.port, ipv6: ipv6, host: host)) }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
