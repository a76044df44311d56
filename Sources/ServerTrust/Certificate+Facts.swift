internal import CLarderOpenSSL
internal import HTTPMessage

/// The facts about a certificate that a user needs.
public struct CertificateFacts: Equatable, Sendable {
    /// The subject in the form of RFC 2253, at most 512 bytes; nonprintable bytes are escaped.
    public let subject: String
    /// The issuer, in the same form as `subject`.
    public let issuer: String
    /// The names and addresses of subjectAltName, at most 100, with nonprintable bytes escaped.
    public let names: [String]
    /// The first valid second; `nil` if the date is malformed.
    public let notBefore: POSIXTime?
    /// The last valid second; `nil` if the date is malformed.
    public let notAfter: POSIXTime?
    /// The serial number in hexadecimal.
    public let serialNumber: String
    /// The SHA-256 digest of the SubjectPublicKeyInfo.
    public let publicKeyDigest: SHA256Digest
    /// The SHA-256 digest of the whole certificate.
    public let digest: SHA256Digest
}

extension Certificate {
    static let factLengthLimit = 512
    static let factNamesLimit = 100

    /// Facts from the certificate's fields.
    public var facts: CertificateFacts {
        // If subjectAltName cannot be read, verification reports that as the fault, and no names are listed here.
        let names = (try? SubjectAlternativeNames(of: self))?.texts(limit: Self.factNamesLimit) ?? []
        return CertificateFacts(
            subject: subject, issuer: Self.text(of: X509_get_issuer_name(pointer)),
            names: names,
            notBefore: notBefore, notAfter: notAfter,
            serialNumber: Self.hexadecimal(X509_get0_serialNumber(pointer)),
            publicKeyDigest: publicKeyDigest, digest: digest)
    }

    /// The subject in the form of `CertificateFacts.subject`.
    package var subject: String { Self.text(of: X509_get_subject_name(pointer)) }

    /// The first valid second; `nil` if the date is not in a form of RFC 5280 §4.1.2.5.
    public var notBefore: POSIXTime? { Self.time(X509_get0_notBefore(pointer)) }

    /// The last valid second; `nil` if the date is not in a form of RFC 5280 §4.1.2.5.
    public var notAfter: POSIXTime? { Self.time(X509_get0_notAfter(pointer)) }

    /// Accepts UTCTime and GeneralizedTime with seconds and `Z`, the only forms of RFC 5280 §4.1.2.5.1 and §4.1.2.5.2.
    static func time(_ time: UnsafePointer<ASN1_TIME>?) -> POSIXTime? {
        guard let time, let text = ASN1_STRING_get0_data(time) else { return nil }
        let count = Int(ASN1_STRING_length(time))
        let expected = ASN1_STRING_type(time) == V_ASN1_UTCTIME ? 13 : 15
        guard count == expected, text[count - 1] == UInt8(ascii: "Z") else { return nil }
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return POSIXTime(seconds: Int64(timegm(&parts)))
    }

    private static func text(of name: OpaquePointer?) -> String {
        guard let name, let memory = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(memory) }
        guard X509_NAME_print_ex(memory, name, 0, copenssl_rfc2253_flags()) >= 0 else { return "" }
        var bytes: UnsafeMutablePointer<CChar>?
        let count = copenssl_memory_of(memory, &bytes)
        guard count > 0, let bytes else { return "" }
        let octets = UnsafeRawBufferPointer(start: bytes, count: min(count, factLengthLimit))
        return escaped(octets)
    }

    /// The bytes as text: printable ASCII unchanged, all other bytes as `\xNN`.
    static func escaped(_ octets: some Sequence<UInt8>) -> String {
        var text = ""
        for octet in octets {
            if (0x20...0x7E).contains(octet) {
                text.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                text += "\\x" + Hexadecimal.encode(CollectionOfOne(octet), isUppercase: true)
            }
        }
        return text
    }

    private static func hexadecimal(_ number: UnsafePointer<ASN1_INTEGER>?) -> String {
        guard let number, let bytes = ASN1_STRING_get0_data(number) else { return "" }
        let octets = UnsafeBufferPointer(start: bytes, count: min(Int(ASN1_STRING_length(number)), 64))
        return Hexadecimal.encode(octets)
    }
}
