import CommandSupport
import ProxyPolicy
import ServerTrust
import TextCoding

/// The client certificate for a host that requests one: an entry `HOST: {…}` of `tls.client_certificates`.
struct ClientCertificateEntry: Sendable {
    enum Source: Sendable {
        case pem(certificate: TrustTerms.NamedFile, key: TrustTerms.NamedFile)
        case pkcs12(TrustTerms.NamedFile)
    }

    static let keys = ["certificate", "key", "pkcs12", "passphrase"]

    let scope: HostScope
    let source: Source
    let passphrase: (reference: SecretReference, cursor: SettingsCursor)?
    let cursor: SettingsCursor

    /// Reads the entries of a mapping. Each entry that cannot be read adds a problem.
    static func reading(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [ClientCertificateEntry]? {
        guard let entries = cursor.entries(problems: &problems) else { return nil }
        var found: [ClientCertificateEntry] = []
        var seen: Set<HostScope> = []
        for entry in entries {
            func report(_ message: String) { problems.add(message, path: entry.value.path, at: entry.place) }
            guard let (host, port) = TrustEntry.parts(of: entry.key), !host.hasPrefix("*"),
                let scope = HostScope(host: host, port: port)
            else {
                report(
                    "expected one host in ASCII or an address, with or without `:port`: a client certificate is sent to one host only"
                )
                continue
            }
            guard seen.insert(scope).inserted else {
                report("this host is already listed, in another spelling")
                continue
            }
            if let read = ClientCertificateEntry(scope, entry.value, problems: &problems) { found.append(read) }
        }
        return found
    }

    private init?(_ scope: HostScope, _ cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return nil }
        self.scope = scope
        self.cursor = cursor
        var passphrase: (reference: SecretReference, cursor: SettingsCursor)?
        if let value = mapping["passphrase"] {
            guard let reference = SecretReference.read(value, problems: &problems) else { return nil }
            passphrase = (reference, value)
        }
        self.passphrase = passphrase
        func file(_ key: String) -> TrustTerms.NamedFile? {
            mapping[key].flatMap { TrustTerms.NamedFile($0, problems: &problems) }
        }
        switch (mapping["certificate"], mapping["key"], mapping["pkcs12"]) {
        case (nil, nil, _?):
            guard let archive = file("pkcs12") else { return nil }
            source = .pkcs12(archive)
        case (_?, _?, nil):
            guard let certificate = file("certificate"), let key = file("key") else { return nil }
            source = .pem(certificate: certificate, key: key)
        default:
            cursor.report("expected `certificate` and `key`, or `pkcs12`", to: &problems)
            return nil
        }
    }

    /// Reads the files with the certificate and its key.
    /// - Returns: `nil` after a problem. The message reveals nothing of the files' content.
    func identity(
        _ environment: [String: String], from origin: SettingsReader.Origin, problems: inout SettingsProblems
    ) -> ClientIdentity? {
        var secret: [UInt8]?
        if let passphrase {
            do throws(LocalFile.Unreadable) {
                secret = try passphrase.reference.bytes(environment, from: origin)
            } catch {
                passphrase.cursor.report(
                    "cannot read \(printable(passphrase.reference.description)): \(error.reason)", to: &problems)
                return nil
            }
        }
        do throws(ClientIdentity.Fault) {
            switch source {
            case .pem(let certificate, let key):
                guard let text = certificate.bytes(atMost: TrustFiles.pinFileLimit, from: origin, problems: &problems),
                    let secretText = key.bytes(
                        isSecret: true, atMost: TrustFiles.pinFileLimit, from: origin, problems: &problems)
                else { return nil }
                return try ClientIdentity(pem: text, key: secretText, passphrase: secret)
            case .pkcs12(let archive):
                guard
                    let bytes = archive.bytes(
                        isSecret: true, atMost: TrustFiles.pinFileLimit, from: origin, problems: &problems)
                else { return nil }
                return try ClientIdentity(pkcs12: bytes, passphrase: secret)
            }
        } catch {
            let (place, sentence) = told(error)
            place.report(sentence, to: &problems)
            return nil
        }
    }

    private func told(_ fault: ClientIdentity.Fault) -> (SettingsCursor, String) {
        let (first, keyed): (SettingsCursor, SettingsCursor) =
            switch source {
            case .pem(let certificate, let key): (certificate.cursor, key.cursor)
            case .pkcs12(let archive): (archive.cursor, archive.cursor)
            }
        return switch fault {
        case .unreadableCertificate: (first, "the file contains no certificate, or a certificate that cannot be read")
        case .unreadableKey: (keyed, "the file contains no private key, or a key that cannot be read")
        case .unreadableArchive: (first, "the file is not PKCS #12, or its encryption is not supported")
        case .passphraseMissing: (keyed, "the key is encrypted, but `passphrase` is missing")
        case .passphraseWrong: (passphrase?.cursor ?? keyed, "this passphrase is wrong")
        case .keyOfAnother: (keyed, "this key does not belong to the certificate")
        }
    }
}
