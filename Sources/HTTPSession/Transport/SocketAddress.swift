import CLinux
import HTTPMessage

extension IPAddress {
    /// The address in a `sockaddr`, or `nil` for a family other than IPv4 and IPv6.
    init?(sockaddr pointer: UnsafeRawPointer, length: Int) {
        switch Int32(pointer.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            guard length >= MemoryLayout<sockaddr_in>.size else { return nil }
            let address = pointer.loadUnaligned(as: sockaddr_in.self)
            self.init(ipv4: UInt32(bigEndian: address.sin_addr.s_addr))
        case AF_INET6:
            guard length >= MemoryLayout<sockaddr_in6>.size else { return nil }
            // sin6_addr stands behind family, port and flow information.
            let high = pointer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            let low = pointer.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            self.init(ipv6High: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        default:
            return nil
        }
    }
}
