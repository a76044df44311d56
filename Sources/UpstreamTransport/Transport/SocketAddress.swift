import CLarderLinux
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
            // In `sockaddr_in6`, the address follows the fields for family, port and flow information.
            let high = pointer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            let low = pointer.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            self.init(ipv6High: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        default:
            return nil
        }
    }

    /// The address with its port.
    static func withPort(sockaddr pointer: UnsafeRawPointer, length: Int) -> (IPAddress, UInt16)? {
        // In both address families, the port follows the field for the family.
        IPAddress(sockaddr: pointer, length: length).map {
            ($0, UInt16(bigEndian: pointer.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        }
    }

    /// The address and port that a socket is connected to.
    static func ofPeer(of descriptor: Int32) -> (IPAddress, UInt16)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard getpeername(descriptor, $0, &length) == 0 else { return nil }
                return withPort(sockaddr: $0, length: Int(length))
            }
        }
    }

    /// The address and a port in the form the kernel uses.
    func withSocketAddress<Result>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch family {
        case .ipv4:
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = port.bigEndian
            target.sin_addr.s_addr = UInt32(truncatingIfNeeded: low).bigEndian
            return Self.passing(&target, to: body)
        case .ipv6:
            var target = sockaddr_in6()
            target.sin6_family = sa_family_t(AF_INET6)
            target.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &target.sin6_addr) {
                $0.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
                $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return Self.passing(&target, to: body)
        }
    }

    private static func passing<Target, Result>(
        _ target: inout Target, to body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Target>.size)) }
        }
    }
}
