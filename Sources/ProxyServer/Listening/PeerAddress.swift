import CLarderLinux
import Glibc
import HTTPMessage

/// The address and port of a connection's peer, or of a listener.
package struct PeerAddress: Equatable, Sendable {
    package let address: IPAddress
    package let port: UInt16

    package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// The local address of a connection.
    init(localOf descriptor: Int32) {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withUnsafeMutablePointer(to: &address) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        self.init(address)
    }

    /// Address families other than IPv4 and IPv6 become the unspecified address.
    init(_ storage: sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            let four = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in.self) }
            address = IPAddress(ipv4: UInt32(bigEndian: four.sin_addr.s_addr))
            port = UInt16(bigEndian: four.sin_port)
        case AF_INET6:
            let six = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in6.self) }
            let halves = withUnsafeBytes(of: six.sin6_addr) {
                (UInt64(bigEndian: $0.load(as: UInt64.self)), UInt64(bigEndian: $0.load(fromByteOffset: 8, as: UInt64.self)))
            }
            address = IPAddress(ipv6High: halves.0, low: halves.1)
            port = UInt16(bigEndian: six.sin6_port)
        default:
            address = IPAddress(ipv4: 0)
            port = 0
        }
    }
}

extension PeerAddress: CustomStringConvertible {
    package var description: String {
        address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
