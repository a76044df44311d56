import ServerTrust

extension PinnedHost {
    /// What is pinned for a host in the settings. A pinned certificate is told by its key.
    /// - Parameter liveCount: how many of the pins, at the beginning, are in use.
    init(_ entry: TrustEntry, _ pins: PinSet, liveCount: Int) {
        let digests = pins.pins.map(\.publicKeyDigest)
        let host = entry.host.hasPrefix("[") ? String(entry.host.dropFirst().dropLast()) : entry.host
        let isPattern = host.hasPrefix("*.")
        self.init(
            name: isPattern ? String(host.dropFirst(2)) : host,
            breadth: !isPattern ? .itself : entry.terms.labels == .one ? .oneLabelBelow : .below, port: entry.port,
            live: Array(digests.prefix(liveCount)), backup: Array(digests.dropFirst(liveCount)),
            expires: entry.terms.pins?.expires, onExpiry: pins.onExpiry, isReportOnly: pins.enforcement != .enforced)
    }

    /// Hosts as a file of `tls.pins_from` has them.
    static func settings(_ hosts: [PinnedHost]) -> String {
        YAMLWriter.write(hosts.flatMap(\.entries), indentation: 0)
    }

    private var entries: [(key: String, value: ShownValue)] {
        guard breadth == .itselfAndBelow else { return [(title, .mapping(policy))] }
        var parts = [self, self]
        parts[0].breadth = .itself
        parts[1].breadth = .below
        return parts.flatMap(\.entries)
    }

    private var policy: [(key: String, value: ShownValue)] {
        var pins: [(key: String, value: ShownValue)] = [("of", .list(live.map { .text("\($0)") }))]
        if !backup.isEmpty { pins.append(("backup", .list(backup.map { .text("\($0)") }))) }
        if let expires {
            pins.append(("expires", .plain("\(expires)")))
            pins.append(("on_expiry", .plain(onExpiry == .fails ? "fail" : "report_only")))
        }
        var policy: [(key: String, value: ShownValue)] = [("pins", .mapping(pins))]
        if breadth == .oneLabelBelow { policy.append(("labels", .plain("one"))) }
        if isReportOnly { policy.append(("mode", .plain("report_only"))) }
        return policy
    }
}
