import ProxyPolicy
import ServerTrust
import UpstreamTransport

/// Merges trust settings of a project that are stricter than the user's: they accept no server that the user's settings reject.
///
/// A setting is stricter if it accepts fewer certificates, keys or protocols, or checks more. A project may never set the anchors, even
/// to use fewer of them: only the user decides which CA certificates are trusted.
enum StricterTrust {
    /// Merges a project's policy for a host over the user's policy that applies to the host.
    /// - Parameters:
    ///   - base: the user's `tls.default`; `nil` if `tls.default` denies.
    ///   - way: how the user's settings handle CONNECT.
    /// - Returns: the user's policy, in which the settings that the project has are replaced; `nil` after a problem.
    static func merge(
        _ proposed: TrustTerms, over base: TrustTerms?, way: ConnectWay, problems: inout SettingsProblems
    ) -> TrustTerms? {
        let before = problems.count
        func refuse(_ key: String, _ reason: String) {
            proposed.report("a project may not set this: \(reason); \(ProjectTerms.remedy)", at: key, to: &problems)
        }
        guard let base else {
            if proposed.connect != .deny { refuse("connect", "your settings deny every host that they do not list") }
            return problems.count == before ? proposed : nil
        }
        var terms = proposed
        func settle<Value>(
            _ key: String, _ path: WritableKeyPath<TrustTerms, Value>, _ reason: String,
            isStricter: (_ proposed: Value, _ base: Value) -> Bool
        ) {
            if !proposed.says(key) {
                terms[keyPath: path] = base[keyPath: path]
            } else if !isStricter(proposed[keyPath: path], base[keyPath: path]) {
                refuse(key, reason)
            }
        }
        settle("anchors", \.anchors, "only your own settings may name trusted certificates") { _, _ in false }
        settle("validate_host", \.validatesHost, "the policy accepts a certificate of another host") { $0 || !$1 }
        settle("allow_untrusted_root", \.allowsUntrustedRoot, "the policy trusts any root certificate") { !$0 || $1 }
        settle("allow_expired", \.allowsExpired, "the policy accepts expired certificates") { !$0 || $1 }
        settle("until", \.until, "`until` is only for a weakened policy, and a project may not weaken your policy") { _, _ in
            false
        }
        settle("pins", \.pins, "your settings pin this host") { _, base in base == nil }
        settle("minimum_tls", \.minimumTLSVersion, "your settings require a newer TLS version") { $0 == .tls13 || $1 == .tls12 }
        settle("minimum_key_sizes", \.minimumKeySizes, "the policy accepts shorter keys than your settings") {
            $0.rsa >= $1.rsa && $0.ellipticCurve >= $1.ellipticCurve
        }
        settle("refuse_digests", \.refusedDigests, "the policy accepts more signature digests than your settings") {
            $0.isSuperset(of: $1)
        }
        settle("crl_files", \.listFiles, "your settings already set `crl_files`") { _, base in base.isEmpty }
        settle("crl", \.listCheck, "`crl` is less strict than in your settings") { $0.rawValue >= $1.rawValue }
        settle("ocsp", \.stapleCheck, "`ocsp` is less strict than in your settings") { $0.rawValue >= $1.rawValue }
        settle("sct", \.auditsSignedTimestamps, "`sct` is less strict than in your settings") { $0 || !$1 }
        settle("connect", \.connect, "your settings have `connect: \(way)`, which is stricter") { proposed, _ in
            rank(proposed ?? way) >= rank(way)
        }
        // Larder cannot see a server's keys in a tunnel. So if the project pins keys, the user's `tunnel` is not inherited.
        if !proposed.says("connect"), proposed.pins != nil, terms.connect == .tunnel { terms.connect = nil }
        return problems.count == before ? terms : nil
    }

    /// How much of the traffic Larder sees and verifies. A higher rank is stricter.
    private static func rank(_ way: ConnectWay) -> Int {
        switch way {
        case .tunnel: 0
        case .probe: 1
        case .intercept: 2
        case .deny: 3
        }
    }

    /// - Returns: why a project may not change this setting of `tls.connect` in this way; `nil` if it may.
    static func weakening(_ name: String, _ proposed: TrustSettings.Connect, over base: TrustSettings.Connect) -> String? {
        let isStricter: Bool =
            switch name {
            case "tls.connect.missing_name": proposed.missingName == .deny || base.missingName == .allow
            case "tls.connect.encrypted_hello": proposed.encryptedHello == .deny || base.encryptedHello == .allow
            // If HTTP/2 is off, a client that offers only HTTP/2 may get a tunnel, and no rule sees the requests in a tunnel.
            case "tls.connect.http2": proposed.http2 == .auto || base.http2 == .off
            case "tls.connect.alt_svc": proposed.altSvc == .remove || base.altSvc == .keep
            case "tls.connect.other_protocols": proposed.otherProtocols == .deny || base.otherProtocols == .tunnel
            case "tls.connect.verdict_ttl": proposed.verdictTTL <= base.verdictTTL
            case "tls.connect.refusals_kept": proposed.refusalsKept <= base.refusalsKept
            case "tls.connect.never_intercept": Set(proposed.neverIntercept).isSubset(of: base.neverIntercept)
            default: false
            }
        return isStricter ? nil : "the value is less strict than in your settings"
    }
}
