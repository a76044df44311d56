import CLarderLinux
import Glibc

/// Loopback addresses for the socket calls of tests.
package enum LoopbackAddress {
    /// - Parameter host: for IPv4, the last number of 127.0.0.N.
    package static func bind(_ descriptor: Int32, ipv6: Bool, port: UInt16, host: UInt8 = 1) -> Bool {
        if ipv6 {
            var address = Self.ipv6(port: port)
            return withPointer(to: &address) { Glibc.bind(descriptor, $0, $1) } == 0
        }
        var address = ipv4(port: port, host: host)
        return withPointer(to: &address) { Glibc.bind(descriptor, $0, $1) } == 0
    }

    /// A blocking connection to 127.0.0.1, or -1.
    package static func connect(to port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
        var address = ipv4(port: port)
        if withPointer(to: &address, { Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
        close(descriptor)
        return -1
    }

    /// Connects to an IPv4 address given as text.
    package static func connect(_ descriptor: Int32, host: String, port: UInt16) -> Bool {
        var address = ipv4(port: port)
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return false }
        return withPointer(to: &address) { Glibc.connect(descriptor, $0, $1) } == 0
    }

    /// A non-blocking connection, possibly still being established.
    package static func beginToConnect(to port: UInt16, ipv6: Bool, host: UInt8 = 1) -> Int32 {
        let type = larder_sock_stream | larder_sock_cloexec | larder_sock_nonblock
        let descriptor = socket(ipv6 ? AF_INET6 : AF_INET, type, 0)
        if ipv6 {
            var address = Self.ipv6(port: port)
            _ = withPointer(to: &address) { Glibc.connect(descriptor, $0, $1) }
        } else {
            var address = ipv4(port: port, host: host)
            _ = withPointer(to: &address) { Glibc.connect(descriptor, $0, $1) }
        }
        return descriptor
    }

    package static func localPort(of descriptor: Int32) -> UInt16 {
        port { getsockname(descriptor, $0, $1) }
    }

    package static func peerPort(of descriptor: Int32) -> UInt16 {
        port { getpeername(descriptor, $0, $1) }
    }

    /// The number of this process's descriptors that are connected to the port. Shows leaks, without counting other tests.
    ///
    /// Other threads may close and open descriptors meanwhile, so a scan of the table could count a closed one and its replacement. So only
    /// those are counted that still exist after the scan.
    package static func connectionCount(to port: UInt16) -> Int {
        let met = (0..<Int32(4096)).filter { peerPort(of: $0) == port }.map { ($0, localPort(of: $0)) }
        return met.count { descriptor, own in peerPort(of: descriptor) == port && localPort(of: descriptor) == own }
    }

    /// A port on which nothing listens, for as long as this process lives: it stays bound, so that no other program gets it.
    package static let unusedPort: UInt16 = {
        let descriptor = socket(AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
        precondition(bind(descriptor, ipv6: false, port: 0), "no port")
        return localPort(of: descriptor)
    }()

    private static func ipv4(port: UInt16, host: UInt8 = 1) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) + UInt32(host)).bigEndian
        return address
    }

    private static func ipv6(port: UInt16) -> sockaddr_in6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return address
    }

    private static func port(_ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withPointer(to: &storage) { address, _ in call(UnsafeMutablePointer(mutating: address), &length) }
        guard result == 0, length >= 4 else { return 0 }
        // The port follows the family in both IPv4 and IPv6 addresses; other families are not used here.
        guard storage.ss_family == sa_family_t(AF_INET) || storage.ss_family == sa_family_t(AF_INET6) else { return 0 }
        return withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    private static func withPointer<Address>(
        to address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
        }
    }
}
