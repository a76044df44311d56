internal import HTTPMessage

/// Which policy judges which host.
///
/// The nearest wins: the host itself before a pattern, a longer pattern before a shorter one, one label before all, an entry
/// with the port before one without.
public struct TrustPolicySet: Sendable {
    /// A policy, and for whom it is.
    public struct Entry: Sendable {
        /// How much the `*` of a pattern stands for.
        public enum Labels: Sendable { case one, all }

        /// A name, a pattern or an address, as it was given.
        public let host: String
        /// How much the `*` of a pattern stands for.
        public let labels: Labels
        /// `nil` for every port.
        public let port: UInt16?
        /// By what they are judged.
        public let policy: TrustPolicy

        /// - Parameters:
        ///   - host: a name in A-labels, `*.` and a name (not that name itself), or an address.
        ///   - labels: how many labels a `*` stands for.
        ///   - port: `nil` for every port.
        ///   - policy: what holds there.
        public init(host: String, labels: Labels = .one, port: UInt16? = nil, policy: TrustPolicy) {
            self.host = host
            self.labels = labels
            self.port = port
            self.policy = policy
        }
    }

    /// What holds for a host that no entry names.
    public enum Fallback: Sendable {
        /// They are judged by this one.
        case policy(TrustPolicy)
        case deny
    }

    private var policies = HostTable<TrustPolicy>()
    /// For hosts that no entry is for.
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

    /// - Returns: `nil` where no entry names the host and the fallback is to deny, and for what is no host.
    public func policy(host: String, port: UInt16) -> TrustPolicy? {
        guard let identity = ReferenceIdentity(host) else { return nil }
        if let policy = policies.value(of: identity, port: port) { return policy }
        guard case .policy(let policy) = fallback else { return nil }
        return policy
    }

    /// Whether a host may be asked in plain text.
    package enum Plaintext: Sendable {
        case forbidden(by: TrustPolicy)
        /// `until`: the last second in which it is so; `nil` for ever.
        case allowed(until: POSIXTime?)
    }

    /// Whether pins forbid that a host is asked in plain text: its own at that port or, for port 80, at 443.
    /// - Parameter host: as in a URI, without brackets: whatever leads to the pinned host is that host.
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

extension TrustFailure {
    fileprivate init(denied host: String) {
        self.init(
            reason: .hostNotAllowed, host: host, depth: nil, certificate: nil, expectedDigests: [], seenDigests: [], chain: [],
            serverKeyDigest: nil, policySource: "")
    }
}
