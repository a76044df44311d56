import CommandSupport
import ProxyPolicy
import ServerTrust
import TextCoding
import UpstreamTransport

extension TrustTerms {
    static let keys = [
        "anchors", "validate_host", "allow_untrusted_root", "allow_expired", "until", "pins", "mode", "enforce_from",
        "minimum_tls", "minimum_key_sizes", "refuse_digests", "crl_files", "crl", "ocsp", "sct", "connect", "labels",
    ]

    /// - Parameter mayWeaken: whether the policy is for hosts that are named.
    /// - Returns: `nil` if the value is not a mapping. An invalid value in the mapping adds a problem and keeps its default.
    init?(_ cursor: SettingsCursor, mayWeaken: Bool, problems: inout SettingsProblems) {
        let suggestion = { PinTerms.keys.contains($0) ? "pins.\($0)" : NearestName.of($0, among: Self.keys) }
        guard let mapping = cursor.mapping(of: Self.keys, suggestion: suggestion, problems: &problems) else { return nil }
        self.init(written: mapping)
        let problemsBefore = problems.count
        if let value = mapping["anchors"] { anchors = Self.anchors(value, problems: &problems) ?? anchors }
        readPins(mapping, problems: &problems)
        readAllowances(mapping, problems: &problems)
        readStrength(mapping, problems: &problems)
        readRevocation(mapping, problems: &problems)
        if let value = mapping["connect"] { connect = Self.connect(value, problems: &problems) }
        labels = mapping["labels"]?.word(among: ["one": .one, "all": .all], problems: &problems)
        // Combinations of keys are checked only if each value is valid.
        if problems.count == problemsBefore { checkTogether(mayWeaken: mayWeaken, problems: &problems) }
    }

    // MARK: Parts

    private static func anchors(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> Anchors? {
        guard case .mapping = cursor.node.value else {
            return cursor.word(among: ["system": .system, "pins": .pins], problems: &problems)
        }
        guard let mapping = cursor.mapping(of: ["bundle"], problems: &problems),
            let bundle = mapping.required("bundle", problems: &problems)
        else { return nil }
        return NamedFile(bundle, problems: &problems).map { .bundle($0) }
    }

    private mutating func readPins(_ mapping: SettingsMapping, problems: inout SettingsProblems) {
        if let value = mapping["pins"] { pins = PinTerms(value, problems: &problems) }
        let isReportOnly = mapping["mode"]?.word(among: ["report_only": true, "enforce": false], problems: &problems)
        let enforcedFrom = mapping["enforce_from"].flatMap { CalendarDay.read($0, problems: &problems) }
        if mapping["pins"] == nil {
            for key in ["mode", "enforce_from"] {
                mapping[key]?.report("no `pins` are set", to: &problems)
            }
        }
        if isReportOnly == false, enforcedFrom != nil {
            mapping["mode"]?.report(
                "`enforce_from` needs `mode: report_only`: from that day on, Larder enforces the pins", suggestion: "report_only",
                to: &problems)
        }
        pins?.isReportOnly = isReportOnly ?? false
        pins?.enforcedFrom = enforcedFrom
    }

    private mutating func readAllowances(_ mapping: SettingsMapping, problems: inout SettingsProblems) {
        validatesHost = mapping["validate_host"]?.boolean(problems: &problems) ?? validatesHost
        allowsUntrustedRoot = mapping["allow_untrusted_root"]?.boolean(problems: &problems) ?? allowsUntrustedRoot
        allowsExpired = mapping["allow_expired"]?.boolean(problems: &problems) ?? allowsExpired
        until = mapping["until"].flatMap { CalendarDay.read($0, problems: &problems) }
    }

    private mutating func readStrength(_ mapping: SettingsMapping, problems: inout SettingsProblems) {
        minimumTLSVersion =
            mapping["minimum_tls"]?.word(among: ["1.2": .tls12, "1.3": .tls13], problems: &problems) ?? minimumTLSVersion
        if let sizes = mapping["minimum_key_sizes"]?.mapping(of: ["rsa", "elliptic_curve"], problems: &problems) {
            func size(_ key: String, _ range: ClosedRange<Int64>, _ usual: Int) -> Int {
                sizes[key]?.integer(in: range, problems: &problems).map(Int.init) ?? usual
            }
            minimumKeySizes = KeySizes(
                rsa: size("rsa", 1024...16_384, KeySizes.usual.rsa),
                ellipticCurve: size("elliptic_curve", 160...571, KeySizes.usual.ellipticCurve))
        }
        if let digests = mapping["refuse_digests"]?.list(problems: &problems) {
            refusedDigests = Set(digests.compactMap { $0.word(among: Self.digests, problems: &problems) })
        }
    }

    private static let digests: KeyValuePairs<String, SignatureDigest> = [
        "md5": .md5, "sha1": .sha1, "sha224": .sha224, "sha256": .sha256, "sha384": .sha384, "sha512": .sha512,
    ]

    private static let checks: KeyValuePairs<String, Revocation.Check> = ["off": .off, "soft": .soft, "hard": .hard]

    private mutating func readRevocation(_ mapping: SettingsMapping, problems: inout SettingsProblems) {
        listFiles = (mapping["crl_files"]?.oneOrMore(problems: &problems) ?? []).compactMap { NamedFile($0, problems: &problems) }
        listCheck = mapping["crl"]?.word(among: Self.checks, problems: &problems) ?? listCheck
        stapleCheck = mapping["ocsp"]?.word(among: Self.checks, problems: &problems) ?? stapleCheck
        auditsSignedTimestamps = mapping["sct"]?.word(among: ["off": false, "audit": true], problems: &problems) ?? false
    }

    private static func connect(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> ConnectWay? {
        cursor.word(
            among: ["tunnel": .tunnel, "probe": .probe, "intercept": .intercept, "deny": .deny], problems: &problems)
    }

    // MARK: Contradictions between keys

    private func checkTogether(mayWeaken: Bool, problems: inout SettingsProblems) {
        for (key, _) in weaknesses {
            if !mayWeaken {
                report("a policy for all hosts cannot be weakened: name the host in tls.hosts", at: key, to: &problems)
            } else if until == nil {
                report("`\(key)` weakens the policy: add `until: DATE`", at: key, to: &problems)
            }
        }
        if until != nil, weaknesses.isEmpty {
            report("no part of this policy is weakened, so `until` has no effect", at: "until", to: &problems)
        }
        if listCheck != .off, listFiles.isEmpty { report("no `crl_files` are set", at: "crl", to: &problems) }
        if listCheck == .off, !listFiles.isEmpty {
            report("`crl` is off, so these files are not used", at: "crl_files", to: &problems)
        }
        if connect == .tunnel, let pins, pins.enforcement != .reported {
            report(
                "the pins are enforced, but Larder cannot check them in a tunnel; use `connect: probe` or `connect: deny`",
                at: "connect",
                to: &problems)
        }
    }
}

extension TrustTerms.NamedFile {
    init?(_ cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard let path = ValueForm<String>.path.read(cursor, &problems) else { return nil }
        self.init(path: path, cursor: cursor)
    }
}

extension CalendarDay {
    static func read(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> CalendarDay? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        if let day = CalendarDay(text) { return day }
        cursor.report("expected a date such as 2027-01-31, found `\(printable(text))`", to: &problems)
        return nil
    }
}
