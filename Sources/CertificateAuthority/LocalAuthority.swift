internal import CLarderOpenSSL
public import ServerTrust

/// A certificate authority of one user: a root, its key, and leaves for any host.
///
/// A CA exists in memory only, and is lost when the process ends, unless its root and key are stored as PEM texts. It reads no clock: every
/// time is an argument. Randomness (keys, serial numbers) comes from OpenSSL. Any thread may use it.
public struct LocalAuthority: Sendable {
    /// The longest validity of a leaf, in seconds, which bounds the use of a stolen key. Browsers' own limits apply only to public roots.
    public static let leafLifetime: Int64 = 150 * 86_400
    /// How long before its issue a certificate's validity begins, in seconds, for clients whose clock is slow.
    public static let backdating: Int64 = 86_400

    /// How far the clients' clock is ahead of this machine's, in seconds; leaves are dated by the clients' clock.
    package var clockOffset: Int64 = 0
    private let profile: RootProfile
    private let key: PrivateKey
    /// The key of all leaves: generated for each value of this type, and never stored.
    let leafKey: PrivateKey

    /// The certificate that clients must trust.
    public var root: Certificate { profile.root }
    /// The hosts that the CA may certify; `nil` for every host.
    public var constraint: NameConstraint? { profile.constraint }
    private var validity: CertificateValidity { profile.validity }

    /// Makes a new root with a new key.
    public init(making terms: RootTerms, at now: POSIXTime) throws(AuthorityFault) {
        guard let key = PrivateKey.newP256(), let serial = SerialNumber.drawn() else { throw .cryptographyFailed }
        let validity = CertificateValidity(
            first: POSIXTime(seconds: now.seconds - Self.backdating),
            last: POSIXTime(seconds: now.seconds + Int64(terms.days) * 86_400))
        var extensions: [CertificateExtension] = [
            .text(NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), .text(NID_key_usage, "critical,keyCertSign,cRLSign"),
            .text(NID_subject_key_identifier, "hash"),
            // The usage is limited to servers, because some clients apply a root's extended key usage to its leaves.
            .text(NID_ext_key_usage, "serverAuth"),
        ]
        if let constraint = terms.constraint { extensions.append(constraint.certificateExtension) }
        let request = CertificateRequest(
            serial: serial, subject: terms.subject(tag: serial.tag), validity: validity, key: key, extensions: extensions)
        guard let root = request.signed(by: nil, key: key) else { throw .cryptographyFailed }
        try self.init(root, key: key)
    }

    /// Loads a stored CA.
    /// - Parameters:
    ///   - root: PEM with one certificate.
    ///   - key: PEM with its private key.
    ///   - passphrase: decrypts an encrypted key.
    public init(root: [UInt8], key: [UInt8], passphrase: [UInt8]? = nil) throws(AuthorityFault) {
        guard let certificates = Certificate.reading(pem: root), certificates.count == 1 else { throw .unreadableCertificate }
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
        try self.init(certificates[0], key: owned)
    }

    private init(_ root: Certificate, key: PrivateKey) throws(AuthorityFault) {
        guard key.isKey(of: root) else { throw .keyOfAnother }
        guard key.isP256 else { throw .notP256 }
        let profile = try RootProfile(root)
        guard let leafKey = PrivateKey.newP256() else { throw .cryptographyFailed }
        self.profile = profile
        self.key = key
        self.leafKey = leafKey
    }

    /// Issues a leaf for a host: only with its name, only for servers, never for a CA (RFC 5280 §4.2.1.9).
    ///
    /// Takes about 0.3 ms, so callers that serve clients should issue it on another thread.
    /// - Parameters:
    ///   - name: the host, as the client knows it.
    ///   - now: the time of issue; the validity begins somewhat earlier.
    public func leaf(for name: LeafName, at now: POSIXTime) throws(LeafRefusal) -> Leaf {
        if let constraint, !constraint.permits(name) { throw .outsideConstraint }
        guard now >= validity.first else { throw .rootNotYetValid }
        guard now <= validity.last else { throw .rootExpired }
        guard let serial = SerialNumber.drawn() else { throw .cryptographyFailed }
        let first = max(now.seconds - Self.backdating, validity.first.seconds)
        // Both the first and the last second are part of the validity (RFC 5280 §4.1.2.5).
        let last = min(first + Self.leafLifetime - 1, validity.last.seconds)
        let leafValidity = CertificateValidity(first: POSIXTime(seconds: first), last: POSIXTime(seconds: last))
        let request = CertificateRequest(
            serial: serial, subject: [], validity: leafValidity, key: leafKey,
            extensions: [
                .text(NID_basic_constraints, "critical,CA:FALSE"), .text(NID_key_usage, "critical,digitalSignature"),
                .text(NID_ext_key_usage, "serverAuth"), .text(NID_authority_key_identifier, "keyid:always"),
                name.certificateExtension,
            ])
        guard let certificate = request.signed(by: root, key: key) else { throw .cryptographyFailed }
        return Leaf(
            name: name, certificate: certificate, key: leafKey, validity: leafValidity,
            endsWithRoot: last == validity.last.seconds)
    }

    /// The root in PEM, for programs.
    public var rootText: String { root.pem }

    /// The key in PEM. Store it only in a file that only its owner can access.
    /// - Parameter passphrase: encrypts the key, if given.
    public func keyText(passphrase: [UInt8]? = nil) throws(AuthorityFault) -> String {
        guard let text = key.pem(passphrase: passphrase) else { throw .cryptographyFailed }
        return text
    }
}

extension LocalAuthority: CustomStringConvertible, CustomReflectable {
    public var description: String { "the CA with the root certificate \(root.digest)" }

    /// The mirror, which debuggers show, contains nothing of the key, not even its address.
    public var customMirror: Mirror { Mirror(self, children: ["root": root.digest.description]) }
}
