internal import COpenSSL

/// A certificate with its private key, by which a server is shown who asks (RFC 8446 §4.4.2).
///
/// Any thread may use it. The key is in no description and in no error.
public struct ClientIdentity: Sendable {
    /// Why files are no identity. None of it tells anything of what stands in them.
    public enum Fault: Error, Equatable, Sendable {
        /// No certificate, or one that cannot be read.
        case unreadableCertificate
        case unreadableKey
        /// Neither PKCS #12 nor one whose encryption is known here (that of 1990s' tools is not).
        case unreadableArchive
        case passphraseMissing
        case passphraseWrong
        /// The key is not that of the first certificate.
        case keyOfAnother
    }

    /// What is shown: the certificate, then those that lead from it to a root.
    public let certificates: [Certificate]
    private let key: PrivateKey

    /// - Parameters:
    ///   - certificates: a text in PEM with the certificate, and behind it those that lead to a root.
    ///   - key: a text in PEM with the private key; it may be the same text.
    ///   - passphrase: of an encrypted key.
    public init(pem certificates: [UInt8], key: [UInt8], passphrase: [UInt8]? = nil) throws(Fault) {
        guard let read = Certificate.reading(pem: certificates) else { throw .unreadableCertificate }
        let owned: PrivateKey
        do throws(PrivateKey.Fault) {
            owned = try PrivateKey(pem: key, passphrase: passphrase)
        } catch {
            switch error {
            case .unreadable: throw .unreadableKey
            case .passphraseMissing: throw .passphraseMissing
            case .passphraseWrong: throw .passphraseWrong
            }
        }
        try self.init(read, key: owned)
    }

    /// - Parameters:
    ///   - archive: PKCS #12 (RFC 7292), as `.p12` and `.pfx` files have it.
    ///   - passphrase: `nil` for an archive that has none.
    public init(pkcs12 archive: [UInt8], passphrase: [UInt8]? = nil) throws(Fault) {
        let (certificates, key) = try ErrorQueue.unchanged { () throws(Fault) in
            try Self.contents(of: archive, passphrase: passphrase)
        }
        try self.init(certificates, key: key)
    }

    private init(_ certificates: [Certificate], key: PrivateKey) throws(Fault) {
        self.certificates = certificates
        self.key = key
        guard key.isKey(of: certificates[0]) else { throw .keyOfAnother }
    }

    /// Has a session show it in the handshake that is under way.
    /// - Returns: whether OpenSSL takes it.
    package func show(in session: OpaquePointer) -> Bool {
        guard SSL_use_certificate(session, certificates[0].pointer) == 1, SSL_use_PrivateKey(session, key.pointer) == 1 else {
            return false
        }
        return certificates.dropFirst().allSatisfy { copenssl_session_add_certificate(session, $0.pointer) == 1 }
    }

    // MARK: Reading

    private static func contents(
        of archive: [UInt8], passphrase: [UInt8]?
    ) throws(Fault) -> (certificates: [Certificate], key: PrivateKey) {
        guard let read = DER.read(archive, by: { d2i_PKCS12(nil, &$0, $1) }, release: { PKCS12_free($0) }) else {
            throw .unreadableArchive
        }
        // What nobody can tell to be whole is not read (RFC 7292 §4).
        guard PKCS12_mac_present(read.pointer) == 1 else { throw .unreadableArchive }
        // Ends with the zero that C wants. One that has a zero inside is not the passphrase.
        let text = (passphrase ?? []).map { CChar(bitPattern: $0) } + [0]
        let count = Int32(text.count - 1)
        guard text.dropLast().allSatisfy({ $0 != 0 }), PKCS12_verify_mac(read.pointer, text, count) == 1 else {
            throw passphrase == nil ? .passphraseMissing : .passphraseWrong
        }
        var key: OpaquePointer?
        var leaf: OpaquePointer?
        var others: OpaquePointer?
        guard PKCS12_parse(read.pointer, text, &key, &leaf, &others) == 1 else { throw .unreadableArchive }
        let owned = key.map { PrivateKey(owning: $0) }
        defer {
            X509_free(leaf)
            copenssl_certificates_free_all(others)
        }
        guard let owned else { throw .unreadableKey }
        guard let leaf, let first = Certificate(sharing: leaf) else { throw .unreadableCertificate }
        let otherCount = others.map { Int(copenssl_certificates_count($0)) } ?? 0
        let rest = (0..<max(0, otherCount)).compactMap { index in
            copenssl_certificates_at(others, Int32(index)).flatMap(Certificate.init(sharing:))
        }
        return ([first] + rest, owned)
    }
}
