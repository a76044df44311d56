import CommandSupport
import ProxyPolicy
import ServerTrust
import TextCoding

/// Makes policies from their settings: reads the certificates, pins and lists that these name. Policies that name the same anchors
/// share them.
struct TrustMaterial {
    struct Made {
        let policy: TrustPolicy
        /// The number of pins in use, which come first. The pins after them are backups.
        let livePinCount: Int
    }

    private let files: TrustFiles
    private var system: TrustAnchors?
    private var bundles: [String: TrustAnchors] = [:]

    init(files: TrustFiles) { self.files = files }

    /// - Throws: if the system's CA certificates cannot be read.
    mutating func hasSystemAnchors() throws(LocalFile.Unreadable) -> Bool {
        if system == nil { system = try files.systemAnchors() }
        return system != nil
    }

    /// - Parameter source: the place of the policy in the settings.
    /// - Returns: `nil` after a problem.
    mutating func policy(
        _ terms: TrustTerms, source: String, from origin: SettingsReader.Origin, problems: inout SettingsProblems
    ) -> Made? {
        let anchors = anchors(terms, from: origin, problems: &problems)
        let pins = terms.pins.flatMap { self.pins($0, from: origin, problems: &problems) }
        let lists = lists(terms, from: origin, problems: &problems)
        guard problems.isEmpty, let anchors else { return nil }
        do throws(TrustPolicyFault) {
            let policy = try TrustPolicy(
                anchors: anchors, pins: pins?.set, validatesHost: terms.validatesHost,
                allowsUntrustedRoot: terms.allowsUntrustedRoot, allowsExpired: terms.allowsExpired,
                minimumTLSVersion: terms.minimumTLSVersion, minimumKeySizes: terms.minimumKeySizes,
                refusedDigests: terms.refusedDigests,
                revocation: Revocation(lists: lists, listCheck: terms.listCheck, stapleCheck: terms.stapleCheck),
                auditsSignedTimestamps: terms.auditsSignedTimestamps, weakUntil: terms.until?.lastSecond, source: source)
            return Made(policy: policy, livePinCount: pins?.liveCount ?? 0)
        } catch {
            let (key, sentence) = Self.told(error)
            terms.report(sentence, at: key, to: &problems)
            return nil
        }
    }

    /// The key of the policy that has an invalid value, and the message.
    private static func told(_ fault: TrustPolicyFault) -> (key: String, sentence: String) {
        switch fault {
        case .emptyPins: ("pins", "the list contains no pin")
        case .pinWithoutCertificate:
            ("pins", "these pins must be certificate files: the digest of a key cannot be a trust anchor")
        case .anchorsWithoutPins: ("anchors", "the policy has no `pins` to use as trust anchors")
        case .anchorsWithoutBindingPins:
            (
                "anchors",
                "pins that are the trust anchors must always be enforced: remove `mode: report_only`, `enforce_from` and `on_expiry: report_only`"
            )
        case .untrustedRootWithoutBindingPins:
            (
                "allow_untrusted_root",
                "`allow_untrusted_root` needs `pins` that are always enforced, or any server could claim to be the host: remove `mode: report_only`, "
                    + "`enforce_from` and `on_expiry: report_only`"
            )
        case .emptyAnchors, .unreadableAnchors: ("anchors", "the file contains a certificate that cannot be read")
        case .unreadableRevocationList: ("crl_files", "the file contains a revocation list that cannot be read")
        case .revocationWithoutLists: ("crl", "no `crl_files` are set")
        case .keySizeBelowFloor: ("minimum_key_sizes", "keys of this size are not secure")
        case .malformedHost, .repeatedHost: preconditionFailure("a policy knows no hosts")
        }
    }

    // MARK: Anchors and lists

    private mutating func anchors(
        _ terms: TrustTerms, from origin: SettingsReader.Origin, problems: inout SettingsProblems
    ) -> TrustPolicy.Anchors? {
        switch terms.anchors {
        case .pins: return .pins
        case .bundle(let file): return bundle(file, from: origin, problems: &problems).map { .given($0) }
        case .system:
            do throws(LocalFile.Unreadable) {
                if system == nil { system = try files.systemAnchors() }
                if let system { return .given(system) }
                terms.report(
                    "this system has no CA certificates in the usual places; name a bundle", at: "anchors", to: &problems)
            } catch {
                terms.report("cannot read the system's CA certificates: \(error.reason)", at: "anchors", to: &problems)
            }
            return nil
        }
    }

    private mutating func bundle(
        _ file: TrustTerms.NamedFile, from origin: SettingsReader.Origin, problems: inout SettingsProblems
    ) -> TrustAnchors? {
        let path = origin.path(of: file.path)
        if let known = bundles[path] { return known }
        guard let bytes = file.bytes(atMost: TrustFiles.bundleLimit, from: origin, problems: &problems) else { return nil }
        do throws(TrustPolicyFault) {
            let anchors = try TrustAnchors(pem: bytes)
            bundles[path] = anchors
            return anchors
        } catch {
            file.cursor.report("the file contains no PEM certificate, or a certificate that cannot be read", to: &problems)
            return nil
        }
    }

    private func lists(
        _ terms: TrustTerms, from origin: SettingsReader.Origin, problems: inout SettingsProblems
    ) -> RevocationLists? {
        var contents: [[UInt8]] = []
        for file in terms.listFiles {
            guard let bytes = file.bytes(atMost: TrustFiles.revocationListLimit, from: origin, problems: &problems) else {
                continue
            }
            do throws(TrustPolicyFault) {
                _ = try RevocationLists([bytes])
                contents.append(bytes)
            } catch {
                file.cursor.report(
                    "the file contains no revocation list in DER or PEM, or a list that cannot be read", to: &problems)
            }
        }
        // This cannot fail: each list has just been parsed above.
        return contents.isEmpty ? nil : try? RevocationLists(contents)
    }

    // MARK: Pins

    /// - Returns: `nil` after a problem.
    private func pins(
        _ terms: PinTerms, from origin: SettingsReader.Origin, problems: inout SettingsProblems
    ) -> (set: PinSet, liveCount: Int)? {
        var pins: [Pin] = []
        for source in terms.live { pins += self.pins(of: source, mode: terms.mode, from: origin, problems: &problems) }
        let liveCount = pins.count
        let live = terms.backup.isEmpty ? [] : Set(pins.map { Self.digest(of: $0, mode: terms.mode) })
        for source in terms.backup {
            let backup = self.pins(of: source, mode: terms.mode, from: origin, problems: &problems)
            // A backup pin that equals a pin in use gives no protection: its key is lost together with that one (RFC 7469 §4.3).
            if backup.contains(where: { live.contains(Self.digest(of: $0, mode: terms.mode)) }) {
                source.cursor.report("this backup is already one of the pins under `of`", to: &problems)
            }
            pins += backup
        }
        guard problems.isEmpty else { return nil }
        do throws(TrustPolicyFault) {
            let set = try PinSet(
                terms.mode, pins, enforcement: terms.enforcement, expires: terms.expires?.lastSecond, onExpiry: terms.onExpiry)
            return (set, liveCount)
        } catch {
            preconditionFailure("no pins, and pins without a certificate, were found where they stand: \(error)")
        }
    }

    /// The digest of a pin, which is compared with the digests of a certificate chain.
    private static func digest(of pin: Pin, mode: PinSet.Mode) -> SHA256Digest {
        mode == .certificate ? pin.certificate?.digest ?? pin.publicKeyDigest : pin.publicKeyDigest
    }

    private func pins(
        of source: PinTerms.Source, mode: PinSet.Mode, from origin: SettingsReader.Origin, problems: inout SettingsProblems
    ) -> [Pin] {
        guard case .file(let file) = source else {
            if case .digest(let pin, _) = source { return [pin] }
            return []
        }
        guard let bytes = file.bytes(atMost: TrustFiles.pinFileLimit, from: origin, problems: &problems) else { return [] }
        do throws(Pin.Fault) {
            let pins = try Pin.reading(file: bytes)
            if mode == .publicKey || pins.allSatisfy({ $0.certificate != nil }) { return pins }
            file.cursor.report("`mode: certificate` needs a certificate, and this file contains a public key", to: &problems)
        } catch {
            file.cursor.report(
                error == .nothingToPin
                    ? "the file contains neither a certificate nor a public key"
                    : "the file contains a certificate or public key that cannot be read",
                to: &problems)
        }
        return []
    }
}

extension TrustTerms.NamedFile {
    /// - Parameter isSecret: whether only the file's owner may be able to read it.
    /// - Returns: `nil` after a problem.
    func bytes(
        isSecret: Bool = false, atMost limit: Int, from origin: SettingsReader.Origin, problems: inout SettingsProblems
    ) -> [UInt8]? {
        let path = origin.path(of: path)
        do throws(LocalFile.Unreadable) {
            return isSecret
                ? try LocalFile.secretBytes(at: path, atMost: limit) : try LocalFile.bytes(at: path, atMost: limit)
        } catch {
            cursor.report("cannot read \(printable(path, limit: 4096)): \(error.reason)", to: &problems)
            return nil
        }
    }
}
