import ServerTrust

/// A named way to the origins: directly, through one proxy, or through a group of parents.
package struct UpstreamWay: Sendable {
    package enum Kind: Sendable {
        case direct
        case proxy(UpstreamProxy)
        case parents(ParentGroup)
    }

    package let name: String
    package let kind: Kind

    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    package static let direct = UpstreamWay(name: "direct", kind: .direct)
}

extension TransportConfiguration {
    /// The same settings for connections on another way.
    package func through(_ way: UpstreamWay) -> TransportConfiguration {
        var result = self
        result.wayName = way.name
        result.proxy = nil
        result.parents = nil
        switch way.kind {
        case .direct: break
        case .proxy(let proxy): result.proxy = proxy
        case .parents(let group): result.parents = group
        }
        // A verdict through a proxy has no address, so that a direct tunnel must not use it.
        result.connect = result.connect.withoutVerdicts
        return result
    }

    /// Whether connections are to a proxy, which connects to the origins.
    package var leadsThroughProxy: Bool { proxy != nil || parents != nil }
}

/// The party that verifies the certificate of an https origin.
package enum OriginVerifier: String, Sendable {
    case larder, parent
}

extension TransportConfiguration {
    /// The party that verifies an https origin on this way. A parent verifies origins for which it sees the requests. Larder itself
    /// verifies an origin with trust settings of its own, and the origin of a request with credentials, unless a rule delegates this.
    package func verifier(
        ofHost host: String, port: UInt16, hasCredentials: Bool, isDelegated: Bool, at now: POSIXTime
    ) -> OriginVerifier {
        guard let parents, parents.members.allSatisfy({ $0.scheme == .https }) else { return .larder }
        if isDelegated { return .parent }
        if hasCredentials || identities.value(host: host, port: port) != nil { return .larder }
        guard let trust, let policy = trust.policy(host: host, port: port) else { return .larder }
        if trust.hasEntry(host: host, port: port) || policy.pins?.refusesOthers(at: now) == true { return .larder }
        return .parent
    }
}
