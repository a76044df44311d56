import CommandSupport
import ProxyPolicy
import ServerTrust
import TextCoding

extension PinTerms {
    static let keys = ["mode", "of", "backup", "expires", "on_expiry", "comment"]

    init?(_ cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return nil }
        self.init()
        mode = mapping["mode"]?.word(among: ["public_key": .publicKey, "certificate": .certificate], problems: &problems) ?? mode
        live = mapping.required("of", problems: &problems).map { sources($0, problems: &problems) } ?? []
        backup = mapping["backup"].map { sources($0, problems: &problems) } ?? []
        expires = mapping["expires"].flatMap { CalendarDay.read($0, problems: &problems) }
        if let value = mapping["on_expiry"] {
            onExpiry = value.word(among: ["report_only": .reports, "fail": .fails], problems: &problems) ?? onExpiry
            if mapping["expires"] == nil { value.report("`on_expiry` needs `expires`", to: &problems) }
        }
        // Larder does not use the comment, which is for people, but it must be text.
        _ = mapping["comment"]?.text(problems: &problems)
    }

    private func sources(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [Source] {
        if case .sequence(let nodes) = cursor.node.value, nodes.isEmpty {
            cursor.report("the list contains no pin", to: &problems)
            return []
        }
        return cursor.oneOrMore(problems: &problems).compactMap { source($0, problems: &problems) }
    }

    private func source(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> Source? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        do throws(Pin.Fault) {
            let pin = try Pin(text)
            if mode == .publicKey { return .digest(pin, cursor) }
            cursor.report("`mode: certificate` needs a certificate file, not the digest of a key", to: &problems)
        } catch {
            if error == .unknownForm, !Self.isMisspelledDigest(text) {
                return TrustTerms.NamedFile(cursor, problems: &problems).map { .file($0) }
            }
            let isDigest = error == .malformedDigest
            cursor.report(
                isDigest
                    ? "not the base64 of a SHA-256 digest: expected 43 characters and `=` after `sha256/`"
                    : "expected a key digest `sha256/…` or a file in PEM or DER, found `\(printable(text))`",
                suggestion: isDigest ? nil : "sha256/…", to: &problems)
        }
        return nil
    }

    /// Whether the text has the length of a base64 digest, alone or after a prefix that ends with a slash. Such a text is hardly a file
    /// name.
    private static func isMisspelledDigest(_ text: String) -> Bool {
        let digest = text.utf8.suffix(44)
        guard digest.count == 44, digest.last == UInt8(ascii: "=") else { return false }
        let prefix = text.utf8.dropLast(44)
        return prefix.isEmpty || prefix.count <= 12 && prefix.last == UInt8(ascii: "/") || text.hasPrefix("pin-sha")
    }
}
