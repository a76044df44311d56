extension AddressRange {
    /// Networks that are not part of the public internet (RFC 6890 and the IANA registries of special-purpose addresses).
    ///
    /// `contains` is also true for addresses that lead to one of these networks: the unspecified addresses, and IPv6 addresses that
    /// embed an IPv4 address of these networks.
    package static let privateNetworks: [AddressRange] = [
        // "This" network (RFC 791 §3.2), loopback (RFC 1122 §3.2.1.3) and link-local addresses (RFC 3927).
        "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16",
        // Private networks (RFC 1918), and networks behind a carrier's NAT (RFC 6598).
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10",
        // Addresses for protocols (RFC 6890 §2.1), and addresses for benchmarks (RFC 2544).
        "192.0.0.0/24", "198.18.0.0/15",
        // Multicast addresses (RFC 5771), reserved addresses (RFC 1112 §4) and the broadcast address.
        "224.0.0.0/4", "240.0.0.0/4",
        // The unspecified address and the loopback address (RFC 4291 §2.5), unique local addresses (RFC 4193), link-local, site-local
        // (RFC 3879) and multicast addresses (RFC 4291 §2.7).
        "::/128", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
        // Addresses for NAT64 within a network (RFC 8215). The network's operator decides where these addresses lead.
        "64:ff9b:1::/48",
    ].compactMap { AddressRange($0) }
}

extension IPAddress {
    /// Whether a connection to this address can reach one of the ranges. The address may be in a range itself or embed an IPv4 address
    /// that is. For a Teredo address, this also considers the addresses of its server and its client.
    package func reaches(_ ranges: [AddressRange]) -> Bool {
        if ranges.contains(where: { $0.contains(self) }) { return true }
        guard let teredo = teredoAddresses else { return false }
        return ranges.contains { $0.contains(teredo.server) || $0.contains(teredo.client) }
    }

    /// The IPv4 addresses of the server and the client in a Teredo address. The bits of the client's address are inverted (RFC 4380
    /// §4).
    package var teredoAddresses: (server: IPAddress, client: IPAddress)? {
        guard family == .ipv6, high >> 32 == 0x2001_0000 else { return nil }
        return (
            IPAddress(ipv4: UInt32(truncatingIfNeeded: high)), IPAddress(ipv4: ~UInt32(truncatingIfNeeded: low))
        )
    }

    /// For an IPv4-mapped address (RFC 4291 §2.5.5.2), the IPv4 address, to which the kernel connects. Any other address is returned
    /// unchanged.
    package var unmapped: IPAddress {
        family == .ipv6 && high == 0 && low >> 32 == 0xFFFF ? IPAddress(ipv4: UInt32(truncatingIfNeeded: low)) : self
    }
}
