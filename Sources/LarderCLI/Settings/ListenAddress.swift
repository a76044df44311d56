/// Where Larder listens: an address of this machine and a port, 0 for one that the kernel chooses.
package struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    /// In the numbers' usual spelling, without brackets.
    package let address: String
    package let port: UInt16
    package let isIPv6: Bool

    /// Reads `127.0.0.1:3180`, `[::1]:3180` or `localhost:3180`; anything else is `nil`.
    /// `localhost` is 127.0.0.1: one spelling, one socket.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard let address = IPText.normalized(String(host)), address.contains(":") else { return nil }
            self.init(address: address, port: port, isIPv6: true)
        } else {
            if host == "localhost" { host = "127.0.0.1" }
            guard let address = IPText.normalized(String(host)), !address.contains(":") else { return nil }
            self.init(address: address, port: port, isIPv6: false)
        }
    }

    private init(address: String, port: UInt16, isIPv6: Bool) {
        self.address = address
        self.port = port
        self.isIPv6 = isIPv6
    }

    package static let defaultPort: UInt16 = 3180

    package static let defaults = [
        ListenAddress(address: "127.0.0.1", port: defaultPort, isIPv6: false),
        ListenAddress(address: "::1", port: defaultPort, isIPv6: true),
    ]

    package var isLoopback: Bool { isIPv6 ? address == "::1" : address.hasPrefix("127.") }

    package var description: String { isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }

    private static func port(_ text: Substring) -> UInt16? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        return UInt16(text)
    }
}
