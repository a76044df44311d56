internal import CLarderOpenSSL

/// A client certificate with its private key (RFC 8446 §4.4.2).
///
/// Any thread may use it. Descriptions and errors never contain the key.
public struct ClientIdentity: Sendable {
    /// Why files do not make an identity. The errors contain nothing of the files' content.
    public enum Fault: Error, Equatable, Sendable {
        /// No certificate, or a malformed one.
        case unreadableCertificate
        case unreadableKey
        /// The archive is not PKCS #12, or its encryption is not supported. Tools from the 1990s use such encryption.
        case unreadableArchive
        case passphraseMissing
        case passphraseWrong
        /// The key does not belong to the first certificate.
        case keyOfAnother
    }

    /// The certificates to send: the client's own, then the intermediates up to a root.
    public let certificates: [Certificate]
    private let key: PrivateKey

    /// - Parameters:
    ///   - certificates: a PEM text with the certificate, followed by the intermediates up to a root.
    ///   - key: a PEM text with the private key; may be the same text.
    ///   - passphrase: for an encrypted key.
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
    ///   - archive: PKCS #12 (RFC 7292), as in `.p12` and `.pfx` files.
    ///   - passphrase: `nil` for an archive without a passphrase.
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

    /// Sets the identity for a session whose handshake is in progress.
    /// - Returns: whether OpenSSL accepts it.
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
        // Without a MAC the archive's integrity cannot be checked, so it is rejected (RFC 7292 §4).
        guard PKCS12_mac_present(read.pointer) == 1 else { throw .unreadableArchive }
        // OpenSSL reads the passphrase as a C string, so a passphrase that contains a NUL byte cannot be right.
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
