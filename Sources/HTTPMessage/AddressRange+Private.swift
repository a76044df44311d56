extension AddressRange {
    /// Networks that are not part of the public internet (RFC 6890 and the IANA registries of special-purpose addresses). `contains` also
    /// finds addresses that lead to one of these networks: the unspecified addresses, and IPv6 addresses that embed an IPv4 address of
    /// these networks.
    package static let privateNetworks: [AddressRange] = [
        // This host (RFC 791 §3.2), loopback (RFC 1122 §3.2.1.3), link-local (RFC 3927).
        "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16",
        // Private networks (RFC 1918), networks behind a carrier's NAT (RFC 6598).
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10",
        // Addresses of protocols (RFC 6890 §2.1), benchmarks (RFC 2544).
        "192.0.0.0/24", "198.18.0.0/15",
        // Multicast (RFC 5771), reserved addresses (RFC 1112 §4) and the broadcast address.
        "224.0.0.0/4", "240.0.0.0/4",
        // Unspecified and loopback (RFC 4291 §2.5), unique local (RFC 4193), link-local, site-local (RFC 3879), multicast (RFC 4291 §2.7).
        "::/128", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
        // NAT64 of one network, which decides where its addresses lead (RFC 8215).
        "64:ff9b:1::/48",
    ].compactMap { AddressRange($0) }
}

extension IPAddress {
    /// Whether a connection to this address can reach one of the ranges: directly, by an IPv4 address that it embeds, or, for a Teredo
    /// address, by the address of its server or its client.
    package func reaches(_ ranges: [AddressRange]) -> Bool {
        if ranges.contains(where: { $0.contains(self) }) { return true }
        guard let teredo = teredoAddresses else { return false }
        return ranges.contains { $0.contains(teredo.server) || $0.contains(teredo.client) }
    }

    /// The IPv4 addresses in a Teredo address; the client's is stored with its bits inverted (RFC 4380 §4).
    package var teredoAddresses: (server: IPAddress, client: IPAddress)? {
        guard family == .ipv6, high >> 32 == 0x2001_0000 else { return nil }
        return (
            IPAddress(ipv4: UInt32(truncatingIfNeeded: high)), IPAddress(ipv4: ~UInt32(truncatingIfNeeded: low))
        )
    }

    /// The IPv4 address of an IPv4-mapped address (RFC 4291 §2.5.5.2), because the kernel connects to it over IPv4. Any other address is
    /// returned unchanged.
    package var unmapped: IPAddress {
        family == .ipv6 && high == 0 && low >> 32 == 0xFFFF ? IPAddress(ipv4: UInt32(truncatingIfNeeded: low)) : self
    }
}
