internal import CLarderOpenSSL

/// An X.509 certificate (RFC 5280), parsed once. Its facts are extracted on demand.
public struct Certificate: Sendable {
    /// Maximum length in bytes; OpenSSL accepts at most 100 KiB of certificates in one handshake message.
    public static let octetLimit = 64 * 1024

    let object: OwnedObject

    /// - Parameter der: exactly one certificate, with no bytes after it.
    /// - Returns: `nil` if the bytes are not a certificate, are longer than `octetLimit`, or are not in DER (RFC 5280 §4.1).
    public init?(der: [UInt8]) {
        guard der.count <= Self.octetLimit else { return nil }
        guard let read = DER.read(der, by: { d2i_X509(nil, &$0, $1) }, release: { X509_free($0) }) else { return nil }
        object = read
        // OpenSSL also accepts encodings that it would write differently, such as a signature with unused bits. The digest of `self.der`
        // would then differ.
        guard self.der == der else { return nil }
    }

    /// Every certificate of a PEM text (RFC 7468), in order. Other parts (keys, parameters) are skipped.
    /// - Returns: `nil` if a certificate is malformed, or if there is none.
    public static func reading(pem text: [UInt8]) -> [Certificate]? {
        guard let parts = PEM.parts(of: text) else { return nil }
        var certificates: [Certificate] = []
        for part in parts where part.label == "CERTIFICATE" || part.label == "X509 CERTIFICATE" {
            guard let certificate = Certificate(der: part.der) else { return nil }
            certificates.append(certificate)
        }
        return certificates.isEmpty ? nil : certificates
    }

    /// - Parameter pointer: an `X509` owned by other code; this object holds its own reference.
    package init?(sharing pointer: OpaquePointer) {
        guard X509_up_ref(pointer) == 1 else { return nil }
        object = OwnedObject(pointer) { X509_free($0) }
    }

    package var pointer: OpaquePointer { object.pointer }

    /// The certificate in DER.
    public var der: [UInt8] {
        DER.written { i2d_X509(pointer, $0) }
    }

    /// The certificate in PEM (RFC 7468 §5).
    package var pem: String { PEM.text("CERTIFICATE", der: der) }

    /// SHA-256 of the whole certificate.
    public var digest: SHA256Digest { SHA256Digest(of: der) }

    /// SHA-256 of the SubjectPublicKeyInfo, the value that pins compare (RFC 7469 §2.4).
    public var publicKeyDigest: SHA256Digest {
        let key = X509_get_X509_PUBKEY(pointer)
        return SHA256Digest(of: DER.written { i2d_X509_PUBKEY(key, $0) })
    }
}

extension Certificate: Equatable {
    public static func == (left: Certificate, right: Certificate) -> Bool { X509_cmp(left.pointer, right.pointer) == 0 }
}
