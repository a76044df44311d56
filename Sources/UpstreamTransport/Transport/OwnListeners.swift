import CLarderLinux
import Glibc
import HTTPMessage

/// The addresses and ports on which this process itself listens: a connection there would be a request loop (RFC 9110 §7.6.3).
///
/// Like `AddressPolicy`, the check uses the address that is actually connected to, so that no name or spelling can hide a
/// listener.
package struct OwnListeners: Equatable, Sendable {
    package struct Place: Equatable, Sendable {
        package var address: IPAddress
        package var port: UInt16

        package init(address: IPAddress, port: UInt16) {
            self.address = address
            self.port = port
        }
    }

    private let places: [Place]

    package static let none = OwnListeners([])

    package init(_ places: [Place]) { self.places = places }

    package func contains(_ address: IPAddress, port: UInt16) -> Bool {
        places.contains { $0.port == port && Self.reaches($0.address, by: address) }
    }

    private static func reaches(_ listener: IPAddress, by address: IPAddress) -> Bool {
        let plain = address.embeddedIPv4 ?? address
        // A connection to the unspecified address reaches this machine's loopback address.
        let target = !plain.isUnspecified ? plain : plain.family == .ipv4 ? .loopbackIPv4 : .loopbackIPv6
        if listener == target { return true }
        return listener.isUnspecified && listener.family == target.family && isOfThisMachine(target)
    }

    /// Asks the kernel each time, because network interfaces come and go. The kernel binds a socket only to an address of this
    /// machine.
    private static func isOfThisMachine(_ address: IPAddress) -> Bool {
        let family = address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(family, Int32(larder_sock_dgram | larder_sock_cloexec), 0)
        // If no descriptor is available, no connection could be made either.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return address.withSocketAddress(port: 0) { bind(descriptor, $0, $1) } == 0
    }
}
