import CLinux
import Glibc
import HTTPMessage

/// Where this process listens itself: a connection there would bring the request back to us (RFC 9110 §7.6.3).
///
/// Judged, as `AddressPolicy` is, on the address really connected, so that no name and no spelling hides one.
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
        // A connection to the unspecified address goes to this machine's loopback address.
        let target = !plain.isUnspecified ? plain : plain.family == .ipv4 ? .loopbackIPv4 : .loopbackIPv6
        if listener == target { return true }
        return listener.isUnspecified && listener.family == target.family && isOfThisMachine(target)
    }

    /// Asked of the kernel each time, since interfaces come and go: it binds sockets to the machine's own addresses alone.
    private static func isOfThisMachine(_ address: IPAddress) -> Bool {
        let family = address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(family, Int32(larder_sock_dgram | larder_sock_cloexec), 0)
        // Without a descriptor there would be no connection either.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return address.withSocketAddress(port: 0) { bind(descriptor, $0, $1) } == 0
    }
}
