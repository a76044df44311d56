/// Which hosts, at which port, something holds for. Two are equal that hold for the same ones, in whatever spelling.
package struct HostScope: Hashable, Sendable {
    enum Place: Hashable {
        case host(ReferenceIdentity)
        case oneLabelBelow([UInt8])
        case below([UInt8])
    }

    let place: Place
    /// `nil` for every port.
    package let port: UInt16?

    /// - Parameter host: a name in A-labels, `*.` and a name (not that name itself), or an address.
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

    init(place: Place, port: UInt16?) {
        self.place = place
        self.port = port
    }
}

extension ReferenceIdentity {
    /// An IPv6 address that stands for an IPv4 one is that one, so that no spelling goes round a policy.
    var canonical: ReferenceIdentity {
        guard case .address(let address) = self else { return self }
        return .address(address.embeddedIPv4 ?? address)
    }
}
