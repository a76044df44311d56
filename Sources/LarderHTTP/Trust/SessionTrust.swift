import EventLoop
public import ServerTrust

/// How a session verifies the servers of https origins.
public enum SessionTrust: Sendable {
    /// Verifies names and validity dates with the root certificates in one of `TrustAnchors.systemBundles`. The bundle is read when
    /// the session is created, which takes about 30 ms.
    case system
    /// Verifies each host by a separate policy.
    case policies(TrustPolicySet)

    /// Verifies every host with the system's root certificates, and these hosts also by their pins.
    /// - Parameter pins: the pins of each host. A host is a name, or a pattern such as `*.example.com` for one label.
    /// - Throws: `trust_rejected`, if the system has no bundle of root certificates or the bundle cannot be parsed, and if a host is
    ///   invalid.
    public static func system(pins: [String: PinSet]) throws(SessionError) -> SessionTrust {
        let anchors = try TrustAnchors.system()
        do throws(TrustPolicyFault) {
            var entries: [TrustPolicySet.Entry] = []
            for (host, pins) in pins {
                let policy = try TrustPolicy(anchors: .given(anchors.anchors), pins: pins, source: anchors.path)
                entries.append(TrustPolicySet.Entry(host: host, policy: policy))
            }
            let others = try TrustPolicy(anchors: .given(anchors.anchors), source: anchors.path)
            return .policies(try TrustPolicySet(entries, fallback: .policy(others)))
        } catch { throw SessionError(.trustRejected, "the pins cannot be used: \(error)") }
    }

    /// The policies to verify servers with; `nil` if the system has no bundle, so that no https origin is trusted.
    func policies() throws(SessionError) -> TrustPolicySet? {
        switch self {
        case .policies(let policies): return policies
        case .system:
            guard let (anchors, path) = try TrustAnchors.ofSystem() else { return nil }
            do throws(TrustPolicyFault) {
                return try TrustPolicySet([], fallback: .policy(TrustPolicy(anchors: .given(anchors), source: path)))
            } catch { throw SessionError(.trustRejected, "cannot read \(path): \(error)") }
        }
    }
}

extension TrustPolicy {
    /// A policy with the system's root certificates and these pins.
    /// - Throws: `trust_rejected`, if the system has no bundle of root certificates, or the bundle or the pins cannot be used.
    public static func system(pins: PinSet? = nil) throws(SessionError) -> TrustPolicy {
        let (anchors, path) = try TrustAnchors.system()
        do throws(TrustPolicyFault) { return try TrustPolicy(anchors: .given(anchors), pins: pins, source: path) } catch {
            throw SessionError(.trustRejected, "the pins cannot be used: \(error)")
        }
    }
}

extension TrustAnchors {
    /// The root certificates of the system, with the path of their bundle.
    fileprivate static func system() throws(SessionError) -> (anchors: TrustAnchors, path: String) {
        guard let found = try ofSystem() else {
            let paths = systemBundles.joined(separator: ", ")
            throw SessionError(.trustRejected, "the system has no bundle of root certificates: none of \(paths) can be read")
        }
        return found
    }

    /// - Returns: `nil` if the system has no bundle.
    fileprivate static func ofSystem() throws(SessionError) -> (anchors: TrustAnchors, path: String)? {
        for path in systemBundles {
            guard let bundle = try? octets(of: path) else { continue }  // A bundle that cannot be read is skipped.
            do throws(TrustPolicyFault) { return (try TrustAnchors(pem: bundle), path) } catch {
                throw SessionError(.trustRejected, "cannot read \(path): \(error)")
            }
        }
        return nil
    }

    /// The maximum length of a bundle, in bytes. A usual bundle has about 200 KiB.
    private static let bundleLimit = 8 << 20

    private static func octets(of path: String) throws(SystemError) -> [UInt8] {
        try OpenFile.reading(path).read(at: 0, atMost: bundleLimit)
    }
}
