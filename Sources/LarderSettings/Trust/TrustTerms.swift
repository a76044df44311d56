import CommandSupport
import ProxyPolicy
import ServerTrust
import UpstreamTransport

/// One policy as it is written: nothing of it is wrong in itself, and its files are still to be read.
package struct TrustTerms: Sendable {
    package enum Anchors: Sendable {
        case system
        case pins
        case bundle(NamedFile)
    }

    /// A file by its name, and where the name stands.
    package struct NamedFile: Sendable {
        package let path: String
        let cursor: SettingsCursor
    }

    package var anchors = Anchors.system
    package var pins: PinTerms?
    var validatesHost = true
    var allowsUntrustedRoot = false
    var allowsExpired = false
    /// The last day on which what weakens the policy holds.
    var until: CalendarDay?
    var minimumTLSVersion = TLSVersion.tls12
    var minimumKeySizes = KeySizes.usual
    var refusedDigests = TrustPolicy.brokenDigests
    var listFiles: [NamedFile] = []
    var listCheck = Revocation.Check.off
    var stapleCheck = Revocation.Check.off
    var auditsSignedTimestamps = false
    /// `nil` where it is not said: it follows from the pins.
    package var connect: ConnectWay?
    /// Of a pattern: how much its star stands for.
    var labels: TrustPolicySet.Entry.Labels?

    /// Nothing is written: the policy that usually holds.
    private let written: SettingsMapping?

    /// The policy that holds where none is written.
    init() { written = nil }

    init(written: SettingsMapping) { self.written = written }

    /// As it was written; nothing where nothing was.
    package var words: [(key: String, value: ShownValue)] {
        guard let written, case .mapping(let words) = ShownValue(written.whole.node) else { return [] }
        return words
    }

    /// Whether the key is written.
    func says(_ key: String) -> Bool { written?[key] != nil }

    /// Those that are named.
    var files: [NamedFile] {
        var files = listFiles
        if case .bundle(let file) = anchors { files.append(file) }
        for source in (pins?.live ?? []) + (pins?.backup ?? []) {
            if case .file(let file) = source { files.append(file) }
        }
        return files
    }

    /// The same terms for a place in another file.
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

    /// What CONNECT gets.
    var connectWay: ConnectWay { connect ?? connectWayUnsaid }

    /// Pins that nobody looks at protect nobody, so that a host with pins is probed.
    var connectWayUnsaid: ConnectWay { pins == nil ? .tunnel : .probe }

    /// What of it lets pass what is usually refused: the key, and in words.
    var weaknesses: [(key: String, meaning: String)] {
        var found: [(key: String, meaning: String)] = []
        if !validatesHost { found.append(("validate_host", "the certificate may belong to another host")) }
        if allowsUntrustedRoot { found.append(("allow_untrusted_root", "the chain may end at an untrusted root")) }
        if allowsExpired { found.append(("allow_expired", "certificates may have expired")) }
        let usual = KeySizes.usual
        if minimumKeySizes.rsa < usual.rsa || minimumKeySizes.ellipticCurve < usual.ellipticCurve {
            found.append(("minimum_key_sizes", "keys may be short"))
        }
        if !refusedDigests.isSuperset(of: TrustPolicy.brokenDigests) {
            found.append(("refuse_digests", "signatures may be over MD5 or SHA-1"))
        }
        return found
    }

    /// Says a problem where the key stands, or else where the policy does.
    func report(_ message: String, at key: String, to problems: inout SettingsProblems) {
        guard let written else { return problems.add(message, path: "tls.default", at: .none) }
        (written[key] ?? written.whole).report(message, to: &problems)
    }
}

/// The pins of a host as they are written.
package struct PinTerms: Sendable {
    /// A digest, or a file with one or more of what is pinned.
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
    /// Of keys that are not in use yet (RFC 7469 §4.3).
    package var backup: [Source] = []
    var expires: CalendarDay?
    var onExpiry = PinSet.Expiry.fails
    /// Reported only, until `enforcedFrom` if that is given.
    var isReportOnly = false
    var enforcedFrom: CalendarDay?

    package var enforcement: PinSet.Enforcement {
        if let enforcedFrom { return .enforcedFrom(enforcedFrom.firstSecond) }
        return isReportOnly ? .reported : .enforced
    }
}
