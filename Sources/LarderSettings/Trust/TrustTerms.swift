import CommandSupport
import ProxyPolicy
import ServerTrust
import UpstreamTransport

/// A trust policy as written. Each value is valid by itself, and the files that the policy names are not read yet.
package struct TrustTerms: Sendable {
    package enum Anchors: Sendable {
        case system
        case pins
        case bundle(NamedFile)
    }

    /// The path of a file, and the place in the settings where the path is written.
    package struct NamedFile: Sendable {
        package let path: String
        let cursor: SettingsCursor
    }

    package var anchors = Anchors.system
    package var pins: PinTerms?
    var validatesHost = true
    var allowsUntrustedRoot = false
    var allowsExpired = false
    /// The last day on which the weakening settings of the policy apply.
    var until: CalendarDay?
    var minimumTLSVersion = TLSVersion.tls12
    var minimumKeySizes = KeySizes.usual
    var refusedDigests = TrustPolicy.brokenDigests
    var listFiles: [NamedFile] = []
    var listCheck = Revocation.Check.off
    var stapleCheck = Revocation.Check.off
    var auditsSignedTimestamps = false
    /// How CONNECT is handled; `nil` if the policy does not say it. Then Larder probes a host with pins, and opens a tunnel to any
    /// other host, unless the default policy intercepts.
    package var connect: ConnectWay?
    /// For a pattern of hosts: how many labels its star matches.
    var labels: TrustPolicySet.Entry.Labels?

    /// The policy's mapping in the settings; `nil` for the default policy.
    private let written: SettingsMapping?

    /// The default policy.
    init() { written = nil }

    init(written: SettingsMapping) { self.written = written }

    /// The keys and values as written; empty for the default policy.
    package var words: [(key: String, value: ShownValue)] {
        guard let written, case .mapping(let words) = ShownValue(written.whole.node) else { return [] }
        return words
    }

    /// Whether the policy sets this key.
    func says(_ key: String) -> Bool { written?[key] != nil }

    /// All files that the policy names.
    var files: [NamedFile] {
        var files = listFiles
        if case .bundle(let file) = anchors { files.append(file) }
        for source in (pins?.live ?? []) + (pins?.backup ?? []) {
            if case .file(let file) = source { files.append(file) }
        }
        return files
    }

    /// The same policy with full paths, for use in another file.
    func withFullPaths(from origin: SettingsReader.Origin) -> TrustTerms {
        func full(_ file: NamedFile) -> NamedFile { NamedFile(path: origin.path(of: file.path), cursor: file.cursor) }
        func full(_ source: PinTerms.Source) -> PinTerms.Source {
            if case .file(let file) = source { .file(full(file)) } else { source }
        }
        var terms = self
        terms.listFiles = listFiles.map(full)
        if case .bundle(let file) = anchors { terms.anchors = .bundle(full(file)) }
        terms.pins?.live = pins?.live.map(full) ?? []
        terms.pins?.backup = pins?.backup.map(full) ?? []
        return terms
    }

    /// How CONNECT is handled.
    var connectWay: ConnectWay { connect ?? connectWayUnsaid }

    /// Pins protect only if Larder checks them, so the default for a host with pins is `probe`.
    var connectWayUnsaid: ConnectWay { pins == nil ? .tunnel : .probe }

    /// The settings by which the policy accepts a server that is usually rejected: for each, the key and a description.
    var weaknesses: [(key: String, meaning: String)] {
        var found: [(key: String, meaning: String)] = []
        if !validatesHost { found.append(("validate_host", "the certificate may belong to another host")) }
        if allowsUntrustedRoot { found.append(("allow_untrusted_root", "the certificate chain may end at an untrusted root")) }
        if allowsExpired { found.append(("allow_expired", "certificates may have expired")) }
        let usual = KeySizes.usual
        if minimumKeySizes.rsa < usual.rsa || minimumKeySizes.ellipticCurve < usual.ellipticCurve {
            found.append(("minimum_key_sizes", "keys may be short"))
        }
        if !refusedDigests.isSuperset(of: TrustPolicy.brokenDigests) {
            found.append(("refuse_digests", "signatures may use MD5 or SHA-1"))
        }
        return found
    }

    /// Reports a problem at the key, or at the policy if the key is not set.
    func report(_ message: String, at key: String, to problems: inout SettingsProblems) {
        guard let written else { return problems.add(message, path: "tls.default", at: .none) }
        (written[key] ?? written.whole).report(message, to: &problems)
    }
}

/// The pins of a host as written.
package struct PinTerms: Sendable {
    /// A digest, or a file with one or more keys or certificates to pin.
    package enum Source: Sendable {
        case digest(Pin, SettingsCursor)
        case file(TrustTerms.NamedFile)

        var cursor: SettingsCursor {
            switch self {
            case .digest(_, let cursor): cursor
            case .file(let file): file.cursor
            }
        }
    }

    package var mode = PinSet.Mode.publicKey
    package var live: [Source] = []
    /// Backup pins: pins of keys that are not in use yet (RFC 7469 §4.3).
    package var backup: [Source] = []
    var expires: CalendarDay?
    var onExpiry = PinSet.Expiry.fails
    /// Whether violations are only reported. If `enforcedFrom` is set, they are only reported until that time.
    var isReportOnly = false
    var enforcedFrom: CalendarDay?

    package var enforcement: PinSet.Enforcement {
        if let enforcedFrom { return .enforcedFrom(enforcedFrom.firstSecond) }
        return isReportOnly ? .reported : .enforced
    }
}
