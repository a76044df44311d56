internal import COpenSSL

/// A certificate as it came, read once (RFC 5280). Its facts are looked at when they are asked for.
public struct Certificate: Sendable {
    /// No certificate is longer; a whole handshake message of OpenSSL's holds no more than 100 KiB of them.
    public static let octetLimit = 64 * 1024

    let object: OwnedObject

    /// - Parameter der: one certificate and nothing behind it.
    /// - Returns: `nil` for what is not one, is longer than `octetLimit`, or is in another encoding than DER (RFC 5280 §4.1).
    public init?(der: [UInt8]) {
        guard der.count <= Self.octetLimit else { return nil }
        guard let read = DER.read(der, by: { d2i_X509(nil, &$0, $1) }, release: { X509_free($0) }) else { return nil }
        object = read
        // OpenSSL also reads what it would write otherwise, such as a signature with bits that do not count: its digest would be another one.
        guard self.der == der else { return nil }
    }

    /// Every certificate of a text in PEM (RFC 7468), in order. Other parts (keys, parameters) are left out.
    /// - Returns: `nil` where one of them is damaged, or none stands there.
    public static func reading(pem text: [UInt8]) -> [Certificate]? {
        guard let parts = PEM.parts(of: text) else { return nil }
        var certificates: [Certificate] = []
        for part in parts where part.label == "CERTIFICATE" || part.label == "X509 CERTIFICATE" {
            guard let certificate = Certificate(der: part.der) else { return nil }
            certificates.append(certificate)
        }
        return certificates.isEmpty ? nil : certificates
    }

    /// - Parameter pointer: an `X509` that belongs to somebody else, and is kept beyond his use of it.
    package init?(sharing pointer: OpaquePointer) {
        guard X509_up_ref(pointer) == 1 else { return nil }
        object = OwnedObject(pointer) { X509_free($0) }
    }

    package var pointer: OpaquePointer { object.pointer }

    /// The bytes of the certificate.
    public var der: [UInt8] {
        DER.written { i2d_X509(pointer, $0) }
    }

    /// As a text (RFC 7468 §5).
    package var pem: String { PEM.text("CERTIFICATE", der: der) }

    /// SHA-256 of the whole certificate.
    public var digest: SHA256Digest { SHA256Digest(of: der) }

    /// SHA-256 of the SubjectPublicKeyInfo, by which keys are pinned (RFC 7469 §2.4).
    public var publicKeyDigest: SHA256Digest {
        let key = X509_get_X509_PUBKEY(pointer)
        return SHA256Digest(of: DER.written { i2d_X509_PUBKEY(key, $0) })
    }
}

extension Certificate: Equatable {
    public static func == (left: Certificate, right: Certificate) -> Bool { X509_cmp(left.pointer, right.pointer) == 0 }
}
