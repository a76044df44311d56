import ProxyPolicy
import ServerTrust

/// A host or a pattern for hosts, with its policy: one entry `HOST: POLICY` of `tls.hosts`, or of a file in the folder `tls.pins_from`.
package struct TrustEntry: Sendable {
    /// The name of the host or the pattern, as written.
    package let name: String
    let host: String
    package let port: UInt16?
    package let scope: HostScope
    package let terms: TrustTerms
    let path: String
    let place: SettingsPlace

    func with(_ terms: TrustTerms) -> TrustEntry {
        TrustEntry(name: name, host: host, port: port, scope: scope, terms: terms, path: path, place: place)
    }

    /// Reads the entries of a mapping. Each entry that cannot be read adds a problem.
    static func reading(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [TrustEntry]? {
        cursor.entries(problems: &problems)?.compactMap { entry in
            let terms = TrustTerms(entry.value, mayWeaken: true, problems: &problems)
            func report(_ message: String) {
                problems.add(message, path: entry.value.path, at: entry.place)
            }
            guard let (host, port) = parts(of: entry.key), HostScope(host: host) != nil else {
                report(
                    entry.key == "*"
                        ? "`*` is not a host: use tls.default for all other hosts"
                        : "expected a host in ASCII, an address or `*.` and a host, with or without `:port`")
                return nil
            }
            guard let terms else { return nil }
            let isPattern = host.hasPrefix("*.")
            if !isPattern, terms.labels != nil {
                terms.report("`labels` is only for a pattern such as `*.\(entry.key)`", at: "labels", to: &problems)
            }
            // By default a star matches any number of labels, as in rules.
            guard let scope = HostScope(host: host, labels: terms.labels ?? .all, port: port) else { return nil }
            return TrustEntry(
                name: entry.key, host: host, port: port, scope: scope, terms: terms, path: entry.value.path, place: entry.place)
        }
    }

    /// Parses `host`, `host:port`, `::1` or `[::1]:port`.
    package static func parts(of text: String) -> (host: String, port: UInt16?)? {
        guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else { return (text, nil) }
        let host = text[..<colon]
        // An IPv6 address without brackets has no port.
        if host.contains(":"), !host.hasSuffix("]") { return (text, nil) }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let port = UInt16(digits),
            port > 0
        else { return nil }
        return (String(host), port)
    }
}
