package import HTTPMessage

/// The host that a client means to reach (RFC 9525 §6.1): a name in A-labels, or an IP address.
package enum ReferenceIdentity: Hashable, Sendable {
    /// A name in lower case, without a final dot.
    case name([UInt8])
    case address(IPAddress)

    /// - Returns: `nil` for anything else: a final dot, an empty label, a byte that is not allowed in a host name, or a numeric
    ///   last label outside an address. A name outside ASCII must be given as A-labels.
    package init?(_ host: String) {
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard let address = IPAddress(String(host.dropFirst().dropLast())), address.family == .ipv6 else { return nil }
            self = .address(address)
        } else if let address = IPAddress(host) {
            self = .address(address)
        } else {
            guard let name = Self.name(host) else { return nil }
            self = .name(name)
        }
    }

    static func name(_ text: some StringProtocol) -> [UInt8]? {
        let name = text.utf8.map(ASCII.lowercased)
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.count <= Authority.hostLengthLimit, labels.allSatisfy(isLabel), let last = labels.last else { return nil }
        // A resolver takes `127.1` or `0x7f000001` for an address.
        guard !last.allSatisfy(ASCII.isDigit), !last.starts(with: [0x30, 0x78]) else { return nil }
        return name
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        guard (1...Authority.labelLengthLimit).contains(label.count) else { return false }
        return label.allSatisfy {
            ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
    }

    /// Whether one of the certificate's names is this host (RFC 9525 §6.3, §6.4, §6.5).
    func matches(_ names: SubjectAlternativeNames) -> Bool {
        switch self {
        case .name(let name): names.dnsNames.contains { Self.matches(presented: $0, name) }
        case .address(let address): names.addresses.contains(address)
        }
    }

    /// A `*` matches exactly one label, the leftmost, and only if at least two labels follow: `*.com` matches no host.
    private static func matches(presented: [UInt8], _ name: [UInt8]) -> Bool {
        guard presented.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) else { return isSame(presented[...], name[...]) }
        let parent = presented.dropFirst(2)
        guard parent.contains(UInt8(ascii: ".")), let dot = name.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return isSame(parent, name[(dot + 1)...])
    }

    private static func isSame(_ presented: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
        presented.count == name.count && zip(presented, name).allSatisfy { ASCII.lowercased($0) == $1 }
    }
}
