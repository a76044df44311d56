/// The hosts, at one port or at every port, that a setting applies to. Scopes for the same hosts are equal, however they are spelled.
package struct HostScope: Hashable, Sendable {
    enum Place: Hashable {
        case host(ReferenceIdentity)
        case oneLabelBelow([UInt8])
        case below([UInt8])
    }

    let place: Place
    /// The port of the hosts; `nil` for every port.
    package let port: UInt16?

    /// - Parameter host: a name in A-labels, `*.` and a name (without that name itself), or an IP address.
    /// - Returns: `nil` for anything else.
    package init?(host: String, labels: TrustPolicySet.Entry.Labels = .one, port: UInt16? = nil) {
        self.port = port
        if host.hasPrefix("*.") {
            guard let name = ReferenceIdentity.name(host.dropFirst(2)) else { return nil }
            place = labels == .one ? .oneLabelBelow(name) : .below(name)
        } else {
            guard let identity = ReferenceIdentity(host) else { return nil }
            place = .host(identity.canonical)
        }
    }

    /// Whether a host can be in both scopes.
    package func overlaps(_ other: HostScope) -> Bool {
        guard port == nil || other.port == nil || port == other.port else { return false }
        func isBelow(_ name: [UInt8], _ above: [UInt8]) -> Bool { name.suffix(above.count + 1) == [UInt8(ascii: ".")] + above }
        func names(_ place: Place) -> (name: [UInt8], isPattern: Bool)? {
            switch place {
            case .host(.name(let name)): (name, false)
            case .host(.address): nil
            case .oneLabelBelow(let name), .below(let name): (name, true)
            }
        }
        guard let left = names(place), let right = names(other.place) else { return place == other.place }
        switch (left.isPattern, right.isPattern) {
        case (false, false): return left.name == right.name
        case (false, true): return isBelow(left.name, right.name)
        case (true, false): return isBelow(right.name, left.name)
        case (true, true): return left.name == right.name || isBelow(left.name, right.name) || isBelow(right.name, left.name)
        }
    }

    init(place: Place, port: UInt16?) {
        self.place = place
        self.port = port
    }
}

extension ReferenceIdentity {
    /// An IPv6 address that embeds an IPv4 address becomes that address, so that another spelling cannot bypass a policy.
    var canonical: ReferenceIdentity {
        guard case .address(let address) = self else { return self }
        return .address(address.embeddedIPv4 ?? address)
    }
}
