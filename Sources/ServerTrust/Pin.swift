internal import CLarderOpenSSL
internal import HTTPMessage

/// A key or certificate that the server's verified chain must contain (RFC 7469 §2.4).
public struct Pin: Hashable, Sendable, CustomStringConvertible {
    /// SHA-256 of the SubjectPublicKeyInfo.
    public let publicKeyDigest: SHA256Digest
    /// The certificate, if the pin was read from one. Only such a pin can be used as a certificate pin or an anchor.
    public let certificate: Certificate?

    /// Why a text or file is not a pin.
    public enum Fault: Error, Equatable, Sendable {
        /// The text has none of the forms of a pin.
        case unknownForm
        /// The text is not base64 of 32 bytes.
        case malformedDigest
        /// Neither a certificate nor a public key can be read.
        case unreadable
        /// PEM without a certificate or public key.
        case nothingToPin
    }

    /// A pin for the SHA-256 of a SubjectPublicKeyInfo.
    public init(publicKeyDigest: SHA256Digest) {
        self.publicKeyDigest = publicKeyDigest
        certificate = nil
    }

    /// A pin for a certificate and its key.
    public init(certificate: Certificate) {
        publicKeyDigest = certificate.publicKeyDigest
        self.certificate = certificate
    }

    /// A digest of a key: `pin-sha256="…"` (RFC 7469 §2.1.1), `sha256/…` or curl's form `sha256//…`.
    public init(_ text: String) throws(Fault) {
        var octets = text.utf8[...]
        if octets.starts(with: Self.quoted), octets.count > Self.quoted.count, octets.last == ASCII.quote {
            octets = octets.dropFirst(Self.quoted.count).dropLast()
        } else if octets.starts(with: Self.slashed) {
            octets = octets.dropFirst(Self.slashed.count)
            // 43 letters and one padding character are 32 bytes, so 45 characters mean curl's extra slash, even if base64
            // itself begins with a slash.
            if octets.first == ASCII.slash, octets.count == 45 { octets = octets.dropFirst() }
        } else {
            throw .unknownForm
        }
        guard let bytes = Base64.decode(octets), let digest = SHA256Digest(bytes) else { throw .malformedDigest }
        self.init(publicKeyDigest: digest)
    }

    private static let quoted = Array("pin-sha256=\"".utf8)
    private static let slashed = Array("sha256/".utf8)

    /// Every certificate and public key of a PEM file, or the single one of a DER file.
    public static func reading(file: [UInt8]) throws(Fault) -> [Pin] {
        guard PEM.isPEM(file) else { return [try reading(der: file)] }
        guard let parts = PEM.parts(of: file) else { throw .unreadable }
        var pins: [Pin] = []
        for part in parts where ["CERTIFICATE", "X509 CERTIFICATE", "PUBLIC KEY"].contains(part.label) {
            pins.append(try reading(der: part.der))
        }
        if pins.isEmpty { throw .nothingToPin }
        return pins
    }

    private static func reading(der: [UInt8]) throws(Fault) -> Pin {
        if let certificate = Certificate(der: der) { return Pin(certificate: certificate) }
        let key = DER.read(der, by: { d2i_PUBKEY(nil, &$0, $1) }, release: { EVP_PKEY_free($0) })
        guard key != nil else { throw .unreadable }
        return Pin(publicKeyDigest: SHA256Digest(of: der))
    }

    public var description: String { publicKeyDigest.description }

    public static func == (left: Pin, right: Pin) -> Bool {
        left.publicKeyDigest == right.publicKeyDigest && left.certificate == right.certificate
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(publicKeyDigest) }
}
