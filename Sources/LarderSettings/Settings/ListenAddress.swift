import HTTPMessage

/// An address of this machine and a port, at which Larder listens. With port 0, the kernel chooses the port.
package struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    package let address: IPAddress
    package let port: UInt16
    /// The TLS settings; `nil` for plain HTTP.
    package var tls: ListenerTerms?

    /// Parses `127.0.0.1:3180`, `[::1]:3180` or `localhost:3180`; `nil` for any other text. `localhost` means only 127.0.0.1, so that
    /// one address in the settings gives one socket.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else { return nil }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? host.dropFirst().dropLast() : host == "localhost" ? "127.0.0.1" : host
        guard let address = IPAddress(String(bare)), isBracketed == (address.family == .ipv6) else { return nil }
        self.init(address: address, port: port)
    }

    package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    package static let defaultPort: UInt16 = 3180

    package static let defaults = [
        ListenAddress(address: .loopbackIPv4, port: defaultPort), ListenAddress(address: .loopbackIPv6, port: defaultPort),
    ]

    package var isLoopback: Bool { address.isLoopback }

    package var description: String { address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// Compares the address and the port, and ignores TLS.
    package func isSame(as other: ListenAddress) -> Bool { address == other.address && port == other.port }

    private static func port(_ text: Substring) -> UInt16? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        return UInt16(text)
    }
}

extension ListenAddress {
    /// The address to which a client on this machine connects: instead of an unspecified address, the loopback address.
    package var reachedLocally: ListenAddress {
        guard address.isUnspecified else { return self }
        return ListenAddress(address: address.family == .ipv6 ? .loopbackIPv6 : .loopbackIPv4, port: port)
    }
}
