/// A block of addresses, such as `169.254.0.0/16`, or a single address.
package struct AddressRange: Hashable, Sendable {
    package let base: IPAddress
    package let prefixLength: UInt8

    /// - Returns: `nil` if the prefix is longer than the address. Bits of the base address that are not in the prefix are cleared.
    package init?(base: IPAddress, prefixLength: Int) {
        let width = base.family == .ipv4 ? 32 : 128
        guard prefixLength >= 0, prefixLength <= width else { return nil }
        self.prefixLength = UInt8(prefixLength)
        switch base.family {
        case .ipv4:
            self.base = IPAddress(ipv4: UInt32(truncatingIfNeeded: base.low & Self.mask(prefixLength + 32)))
        case .ipv6:
            self.base = IPAddress(
                ipv6High: base.high & Self.mask(min(prefixLength, 64)), low: base.low & Self.mask(max(prefixLength - 64, 0)))
        }
    }

    package init?(_ text: Span<UInt8>) {
        var slash = text.count
        for index in 0..<text.count where text[index] == ASCII.slash {
            slash = index
            break
        }
        guard let base = IPAddress(text.extracting(0..<slash)) else { return nil }
        if slash == text.count {
            self.init(base: base, prefixLength: base.family == .ipv4 ? 32 : 128)
            return
        }
        let digits = text.extracting(slash + 1..<text.count)
        guard !digits.isEmpty, digits.count <= 3 else { return nil }
        var length = 0
        for index in 0..<digits.count {
            guard ASCII.isDigit(digits[index]) else { return nil }
            length = length * 10 + Int(digits[index] - 0x30)
        }
        self.init(base: base, prefixLength: length)
    }

    package init?(_ text: String) {
        self.init(Array(text.utf8).span)
    }

    /// Whether the range contains this address, or an address to which a connection to this address leads. For an IPv6 address with an
    /// embedded IPv4 address, that is the IPv4 address; for `0.0.0.0` and `::`, the loopback address.
    package func contains(_ address: IPAddress) -> Bool {
        if holds(address) { return true }
        if let embedded = address.embeddedIPv4 { return contains(embedded) }
        return address.isUnspecified && (holds(.loopbackIPv4) || holds(.loopbackIPv6))
    }

    /// Whether the range is a single address.
    package var isOneAddress: Bool { prefixLength == (base.family == .ipv4 ? 32 : 128) }

    /// Whether the range contains exactly this address. Other addresses to which a connection to it leads are not considered.
    func holds(_ address: IPAddress) -> Bool {
        guard address.family == base.family else { return false }
        let length = Int(prefixLength)
        if base.family == .ipv4 { return (address.low ^ base.low) & Self.mask(length + 32) & 0xFFFF_FFFF == 0 }
        return (address.high ^ base.high) & Self.mask(min(length, 64)) == 0
            && (address.low ^ base.low) & Self.mask(max(length - 64, 0)) == 0
    }

    /// A mask of the upper `length` bits of a 64-bit word.
    private static func mask(_ length: Int) -> UInt64 {
        length == 0 ? 0 : UInt64.max << UInt64(64 - length)
    }
}

extension AddressRange: CustomStringConvertible {
    /// The range as text; for a single address, the address without a prefix length.
    package var description: String { isOneAddress ? "\(base)" : "\(base)/\(prefixLength)" }
}
