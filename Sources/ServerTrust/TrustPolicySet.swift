internal import HTTPMessage

/// Which policy judges which host.
///
/// The nearest wins: the host itself before a pattern, a longer pattern before a shorter one, one label before all, an entry
/// with the port before one without.
public struct TrustPolicySet: Sendable {
    public struct Entry: Sendable {
        /// How much the `*` of a pattern stands for.
        public enum Labels: Sendable { case one, all }

        public let host: String
        public let labels: Labels
        public let port: UInt16?
        public let policy: TrustPolicy

        /// - Parameters:
        ///   - host: a name in A-labels, `*.` and a name (not that name itself), or an address.
        ///   - port: `nil` for every port.
        public init(host: String, labels: Labels = .one, port: UInt16? = nil, policy: TrustPolicy) {
            self.host = host
            self.labels = labels
            self.port = port
            self.policy = policy
        }
    }

    /// What holds for a host that no entry names.
    public enum Fallback: Sendable {
        case policy(TrustPolicy)
        case deny
    }

    private enum Pattern: Hashable {
        case host(ReferenceIdentity)
        case oneLabelBelow([UInt8])
        case below([UInt8])
    }

    private struct Key: Hashable {
        let pattern: Pattern
        let port: UInt16?
    }

    private var policies: [Key: TrustPolicy] = [:]
    public let fallback: Fallback

    /// - Throws: `malformedHost`, `repeatedHost`.
    public init(_ entries: [Entry], fallback: Fallback) throws(TrustPolicyFault) {
        self.fallback = fallback
        policies.reserveCapacity(entries.count)
        for entry in entries {
            guard let pattern = Self.pattern(of: entry) else { throw .malformedHost(entry.host) }
            guard policies.updateValue(entry.policy, forKey: Key(pattern: pattern, port: entry.port)) == nil else {
                throw .repeatedHost(entry.host)
            }
        }
    }

    private static func pattern(of entry: Entry) -> Pattern? {
        guard entry.host.hasPrefix("*.") else { return ReferenceIdentity(entry.host).map { .host($0.canonical) } }
        return ReferenceIdentity.name(entry.host.dropFirst(2)).map { entry.labels == .one ? .oneLabelBelow($0) : .below($0) }
    }

    /// - Returns: `nil` where no entry names the host and the fallback is to deny, and for what is no host.
    public func policy(host: String, port: UInt16) -> TrustPolicy? {
        guard let identity = ReferenceIdentity(host) else { return nil }
        if let policy = policy(of: .host(identity.canonical), port: port) { return policy }
        if case .name(let name) = identity {
            var labelCount = 0
            for dot in name.indices where name[dot] == UInt8(ascii: ".") {
                labelCount += 1
                let parent = Array(name[(dot + 1)...])
                if labelCount == 1, let policy = policy(of: .oneLabelBelow(parent), port: port) { return policy }
                if let policy = policy(of: .below(parent), port: port) { return policy }
            }
        }
        guard case .policy(let policy) = fallback else { return nil }
        return policy
    }

    private func policy(of pattern: Pattern, port: UInt16) -> TrustPolicy? {
        policies[Key(pattern: pattern, port: port)] ?? policies[Key(pattern: pattern, port: nil)]
    }

    /// As `TrustPolicy.evaluate(_:host:at:)`, by the policy of this host and port.
    /// - Throws: besides, `hostNotAllowed`.
    public func evaluate(
        _ evidence: ServerEvidence, host: String, port: UInt16, at now: POSIXTime
    ) throws(TrustFailure) -> TrustVerdict {
        try requiredPolicy(host: host, port: port).evaluate(evidence, host: host, at: now)
    }

    /// As `policy(host:port:)`, for those who go no further without one.
    /// - Throws: `hostNotAllowed`.
    package func requiredPolicy(host: String, port: UInt16) throws(TrustFailure) -> TrustPolicy {
        guard let policy = policy(host: host, port: port) else { throw TrustFailure(denied: host) }
        return policy
    }
}

extension ReferenceIdentity {
    /// An IPv6 address that stands for an IPv4 one is that one, so that no spelling goes round a policy.
    fileprivate var canonical: ReferenceIdentity {
        guard case .address(let address) = self else { return self }
        return .address(address.embeddedIPv4 ?? address)
    }
}

extension TrustFailure {
    fileprivate init(denied host: String) {
        self.init(reason: .hostNotAllowed, host: host, depth: nil, certificate: nil, expectedDigests: [], seenDigests: [])
    }
}
