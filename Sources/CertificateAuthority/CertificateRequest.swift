internal import CLarderOpenSSL
internal import ServerTrust

enum CertificateExtension {
    /// The value in OpenSSL's configuration syntax, which never contains external input.
    case text(Int32, StaticString)
    /// The value in DER.
    case octets(Int32, [UInt8], isCritical: Bool)
}

struct CertificateValidity {
    let first: POSIXTime
    /// The last second of the validity.
    let last: POSIXTime

    init(first: POSIXTime, last: POSIXTime) {
        self.first = first
        self.last = last
    }

    /// - Returns: `nil` if a date cannot be read, or the last second is before the first.
    init?(of certificate: Certificate) {
        guard let first = certificate.notBefore, let last = certificate.notAfter, first <= last else { return nil }
        self.init(first: first, last: last)
    }
}

/// The data of a certificate before it is signed (RFC 5280 §4.1).
struct CertificateRequest {
    let serial: SerialNumber
    /// The attributes of the subject; empty if subjectAltName contains all names.
    let subject: [(NameAttribute, String)]
    let validity: CertificateValidity
    let key: PrivateKey
    let extensions: [CertificateExtension]

    /// - Parameter issuer: `nil` for a self-signed certificate.
    /// - Returns: `nil` if OpenSSL fails.
    func signed(by issuer: Certificate?, key issuerKey: PrivateKey) -> Certificate? {
        ErrorQueue.unchanged {
            guard let pointer = X509_new() else { return nil }
            defer { X509_free(pointer) }
            guard fill(pointer), X509_set_issuer_name(pointer, X509_get_subject_name(issuer?.pointer ?? pointer)) == 1,
                extensions.allSatisfy({ $0.add(to: pointer, issuer: issuer?.pointer ?? pointer) }),
                X509_sign(pointer, issuerKey.pointer, EVP_sha256()) > 0
            else { return nil }
            // The certificate is parsed again from its DER, so that nothing depends on how it was made.
            return Certificate(der: DER.written { i2d_X509(pointer, $0) })
        }
    }

    private func fill(_ pointer: OpaquePointer) -> Bool {
        let version3 = 2
        guard X509_set_version(pointer, version3) == 1, X509_set_pubkey(pointer, key.pointer) == 1, setSerial(of: pointer),
            Self.set(validity.first, by: { X509_set1_notBefore(pointer, $0) }),
            Self.set(validity.last, by: { X509_set1_notAfter(pointer, $0) })
        else { return false }
        let name = X509_get_subject_name(pointer)
        return subject.allSatisfy { attribute, text in
            X509_NAME_add_entry_by_txt(name, attribute.rawValue, copenssl_utf8_form(), text, -1, -1, 0) == 1
        }
    }

    private func setSerial(of pointer: OpaquePointer) -> Bool {
        guard let number = BN_bin2bn(serial.octets, Int32(serial.octets.count), nil) else { return false }
        defer { BN_free(number) }
        return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil
    }

    private static func set(_ time: POSIXTime, by set: (UnsafeMutablePointer<ASN1_TIME>?) -> Int32) -> Bool {
        guard let written = ASN1_TIME_set(nil, Int(time.seconds)) else { return false }
        defer { ASN1_STRING_free(written) }
        return set(written) == 1
    }
}

extension CertificateExtension {
    fileprivate func add(to pointer: OpaquePointer, issuer: OpaquePointer) -> Bool {
        guard let made = made(for: pointer, issuer: issuer) else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_add_ext(pointer, made, -1) == 1
    }

    private func made(for pointer: OpaquePointer, issuer: OpaquePointer) -> OpaquePointer? {
        switch self {
        case .text(let kind, let text):
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, issuer, pointer, nil, nil, 0)
            return X509V3_EXT_conf_nid(nil, &context, kind, text.description)
        case .octets(let kind, let octets, let isCritical):
            guard let data = ASN1_OCTET_STRING_new() else { return nil }
            defer { ASN1_OCTET_STRING_free(data) }
            guard ASN1_OCTET_STRING_set(data, octets, Int32(octets.count)) == 1 else { return nil }
            return X509_EXTENSION_create_by_NID(nil, kind, isCritical ? 1 : 0, data)
        }
    }
}
