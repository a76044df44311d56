internal import HTTPMessage

/// The policies of hosts.
///
/// The most specific entry wins. The host itself comes before a pattern, and a longer pattern before a shorter one. A star for
/// one label comes before a star for any number of labels. An entry with the port comes before an entry without a port.
public struct TrustPolicySet: Sendable {
    /// A policy, with the hosts it is for.
    public struct Entry: Sendable {
        /// How many labels the `*` of a pattern matches.
        public enum Labels: Sendable { case one, all }

        /// A name, a pattern or an IP address, as passed.
        public let host: String
        /// How many labels the `*` of a pattern matches.
        public let labels: Labels
        /// The port that the policy is for; `nil` for every port.
        public let port: UInt16?
        /// The policy for these hosts.
        public let policy: TrustPolicy

        /// - Parameters:
        ///   - host: a name in A-labels, `*.` and a name (without that name itself), or an IP address.
        ///   - labels: how many labels a `*` matches.
        ///   - port: `nil` for every port.
        ///   - policy: the policy for these hosts.
        public init(host: String, labels: Labels = .one, port: UInt16? = nil, policy: TrustPolicy) {
            self.host = host
            self.labels = labels
            self.port = port
            self.policy = policy
        }
    }

    /// The policy for hosts without an entry.
    public enum Fallback: Sendable {
        /// Hosts without an entry are evaluated with this policy.
        case policy(TrustPolicy)
        case deny
    }

    private var policies = HostTable<TrustPolicy>()
    /// The policy for hosts without an entry.
    public let fallback: Fallback
    /// Whether any policy has pins.
    package let hasPins: Bool

    /// - Throws: `malformedHost`, `repeatedHost`.
    public init(_ entries: [Entry], fallback: Fallback) throws(TrustPolicyFault) {
        self.fallback = fallback
        if case .policy(let policy) = fallback, policy.pins != nil {
            hasPins = true
        } else {
            hasPins = entries.contains { $0.policy.pins != nil }
        }
        for entry in entries {
            guard let scope = HostScope(host: entry.host, labels: entry.labels, port: entry.port) else {
                throw .malformedHost(entry.host)
            }
            guard policies.insert(entry.policy, for: scope) else { throw .repeatedHost(entry.host) }
        }
    }

    /// - Returns: `nil` if no entry matches and the fallback is `deny`, and for an invalid host.
    public func policy(host: String, port: UInt16) -> TrustPolicy? {
        guard let identity = ReferenceIdentity(host) else { return nil }
        if let policy = policies.value(of: identity, port: port) { return policy }
        guard case .policy(let policy) = fallback else { return nil }
        return policy
    }

    /// Whether a host has an entry, so that the fallback does not apply.
    package func hasEntry(host: String, port: UInt16) -> Bool { policies.value(host: host, port: port) != nil }

    /// Whether a host may be contacted in plain text.
    package enum Plaintext: Sendable {
        case forbidden(by: TrustPolicy)
        /// `until`: the last second for which plain text is known to be allowed; `nil` for no end.
        case allowed(until: POSIXTime?)
    }

    /// Whether pins forbid plain text to a host. These are the pins for its port; for port 80, also the pins for port 443.
    /// - Parameter host: as in a URI, without brackets; another spelling that resolves to the pinned host is treated as that host.
    package func plaintext(toHost host: String, port: UInt16, at now: POSIXTime) -> Plaintext {
        let spelled = host.hasSuffix(".") ? String(host.dropLast()) : host
        let host = IPAddress(asLookedUp: Array(spelled.utf8).span)?.description ?? spelled
        var changes: [POSIXTime] = []
        for port in port == 80 ? [80, 443] : [port] {
            guard let policy = policy(host: host, port: port), let pins = policy.pins else { continue }
            if pins.refusesOthers(at: now) { return .forbidden(by: policy) }
            if let change = policy.nextChange(after: now) { changes.append(change) }
        }
        return .allowed(until: changes.min())
    }

    /// Calls `TrustPolicy.evaluate(_:host:at:)` on the policy for this host and port.
    /// - Throws: the failures of that method, and `hostNotAllowed`.
    public func evaluate(
        _ evidence: ServerEvidence, host: String, port: UInt16, at now: POSIXTime
    ) throws(TrustFailure) -> TrustVerdict {
        try requiredPolicy(host: host, port: port).evaluate(evidence, host: host, at: now)
    }

    /// Like `policy(host:port:)`, for callers that require a policy.
    /// - Throws: `hostNotAllowed`.
    package func requiredPolicy(host: String, port: UInt16) throws(TrustFailure) -> TrustPolicy {
        guard let policy = policy(host: host, port: port) else { throw TrustFailure(denied: host) }
        return policy
    }
}

extension TrustFailure {
    fileprivate init(denied host: String) {
        self.init(
            reason: .hostNotAllowed, host: host, depth: nil, certificate: nil, expectedDigests: [], seenDigests: [], chain: [],
            serverKeyDigest: nil, policySource: "")
    }
}
