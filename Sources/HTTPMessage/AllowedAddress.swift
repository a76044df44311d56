/// An address or a range to which connections are allowed, at one port or at every port: `10.1.2.3:5432`, `10.0.0.0/8`, `[fd00::1]:443`.
package struct AllowedAddress: Hashable, Sendable {
    package let range: AddressRange
    /// The port; `nil` allows every port.
    package let port: UInt16?

    package init(_ range: AddressRange, port: UInt16? = nil) {
        self.range = range
        self.port = port
    }

    /// Parses an address or a range, which may be followed by a colon and a port. An IPv6 address with a port must be in brackets.
    package init?(_ text: String) {
        var address = Substring(text)
        var port: UInt16?
        let isBracketed = text.hasPrefix("[")
        if isBracketed {
            guard let end = text.firstIndex(of: "]") else { return nil }
            address = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty {
                guard rest.first == ":", let read = Self.port(rest.dropFirst()) else { return nil }
                port = read
            }
        } else if let colon = text.firstIndex(of: ":"), text[text.index(after: colon)...].firstIndex(of: ":") == nil {
            guard let read = Self.port(text[text.index(after: colon)...]) else { return nil }
            port = read
            address = text[..<colon]
        }
        guard let range = AddressRange(String(address)), !isBracketed || range.base.family == .ipv6 else { return nil }
        self.init(range, port: port)
    }

    private static func port(_ text: Substring) -> UInt16? {
        guard text.utf8.count <= 5, text.utf8.allSatisfy(ASCII.isDigit), let port = UInt16(text), port > 0 else { return nil }
        return port
    }

    /// Whether connections to this address and port are allowed.
    ///
    /// The range allows only the addresses in it; an IPv4 address may also have the IPv4-mapped form. An address that embeds an allowed
    /// IPv4 address in another form may lead elsewhere, so it is not allowed. A service for cloud metadata must be allowed by its own
    /// address, not by a range.
    package func allows(_ address: IPAddress, port: UInt16) -> Bool {
        if let own = self.port, own != port { return false }
        guard range.holds(address) || range.holds(address.unmapped) else { return false }
        return range.isOneAddress || !address.reaches(AddressRange.metadataServices)
    }
}

extension AllowedAddress: CustomStringConvertible {
    package var description: String {
        guard let port else { return range.description }
        return range.base.family == .ipv4 ? "\(range):\(port)" : "[\(range)]:\(port)"
    }
}
