import EventLoop
public import ServerTrust

/// How a session verifies the servers of https origins.
public enum SessionTrust: Sendable {
    /// Verifies names and validity dates with the root certificates in one of `TrustAnchors.systemBundles`. The bundle is read when
    /// the session is created, which takes about 30 ms.
    case system
    /// Verifies each host by a separate policy.
    case policies(TrustPolicySet)

    /// The policies to verify servers with; `nil` if the system has no bundle, so that no https origin is trusted.
    func policies() throws(SessionError) -> TrustPolicySet? {
        switch self {
        case .policies(let policies): return policies
        case .system:
            for path in TrustAnchors.systemBundles {
                guard let bundle = try? Self.octets(of: path) else { continue }  // A bundle that cannot be read is skipped.
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

    /// The maximum length of a bundle, in bytes. A usual bundle has about 200 KiB.
    private static let bundleLimit = 8 << 20

    private static func octets(of path: String) throws(SystemError) -> [UInt8] {
        try OpenFile.reading(path).read(at: 0, atMost: bundleLimit)
    }
}
