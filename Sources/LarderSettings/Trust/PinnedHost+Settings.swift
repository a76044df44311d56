import ServerTrust

extension PinnedHost {
    /// The pins of a host, from the settings. A pinned certificate is represented by the digest of its key.
    /// - Parameter liveCount: the number of pins in use, which come first.
    init(_ entry: TrustEntry, _ pins: PinSet, liveCount: Int) {
        var seen: Set<SHA256Digest> = []
        // Two certificates may have the same key.
        func digests(_ pins: some Sequence<Pin>) -> [SHA256Digest] {
            pins.map(\.publicKeyDigest).filter { seen.insert($0).inserted }
        }
        self.init(pattern: entry.host, labels: entry.terms.labels ?? .all, live: digests(pins.pins.prefix(liveCount)))
        port = entry.port
        backup = digests(pins.pins.dropFirst(liveCount))
        expires = entry.terms.pins?.expires
        onExpiry = pins.onExpiry
        isReportOnly = pins.enforcement != .enforced
        enforcedFrom = entry.terms.pins?.enforcedFrom
        pinsCertificates = pins.mode == .certificate
    }

    /// Writes hosts in the format of the files in the folder `tls.pins_from`.
    package static func settings(_ hosts: [PinnedHost]) -> String {
        YAMLWriter.write(hosts.flatMap(\.parts).map { ($0.title, .mapping($0.policy)) }, indentation: 0)
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
        if let enforcedFrom { policy.append(("enforce_from", .plain("\(enforcedFrom)"))) }
        return policy
    }
}
