import EventLoop
public import ServerTrust

/// By what a session believes the servers of https origins.
public enum SessionTrust: Sendable {
    /// The roots that the system keeps in one of `TrustAnchors.systemBundles`, with the names and dates of certificates. Read when the
    /// session is made, which takes some 30 ms.
    case system
    /// Each host by its own policy.
    case policies(TrustPolicySet)

    /// `nil` where the system has no bundle: no https origin is believed then.
    func policies() throws(SessionError) -> TrustPolicySet? {
        switch self {
        case .policies(let policies): return policies
        case .system:
            for path in TrustAnchors.systemBundles {
                guard let bundle = try? Self.octets(of: path) else { continue }  // the next one may be there
                do {
                    let policy = try TrustPolicy(anchors: .given(TrustAnchors(pem: bundle)), source: path)
                    return try TrustPolicySet([], fallback: .policy(policy))
                } catch {
                    throw SessionError(.trustRejected, "cannot read \(path): \(error)")
                }
            }
            return nil
        }
    }

    /// A bundle is some 200 KiB.
    private static let bundleLimit = 8 << 20

    private static func octets(of path: String) throws(SystemError) -> [UInt8] {
        try OpenFile.reading(path).read(at: 0, atMost: bundleLimit)
    }
}
