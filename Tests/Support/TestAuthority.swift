import CLarderOpenSSL

/// A CA for one test, which certifies servers on loopback.
package final class TestAuthority {
    private let key: OpaquePointer
    private let certificate: OpaquePointer
    private var serialNumber = 1

    package init(name: String = "Root of a test") {
        key = Self.makeKey()
        certificate = Self.certify(
            key, subject: name, issuer: nil, issuerKey: key, serialNumber: 1,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
            ], validFrom: -86_400, until: 86_400)
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    package var der: [UInt8] { Self.der(of: certificate) }

    /// - Parameters:
    ///   - names: in the syntax of OpenSSL's settings: `DNS:one.test,IP:127.0.0.1`.
    ///   - from, until: in seconds from now.
    ///   - version: the only TLS version that the server uses; `nil` for OpenSSL's defaults.
    ///   - ticketCount: the number of tickets sent after a TLS 1.3 handshake.
    ///   - timestamps: the list sent to clients that request one (RFC 6962 §3.3.1).
    ///   - stapleSeconds: how long the stapled OCSP response is valid; `nil` for none.
    ///   - asksClients: whether only clients certified by this CA are accepted.
    package func identity(
        names: String = "IP:127.0.0.1,DNS:one.test", from: Int = -7_200, until: Int = 3_600, version: Int32? = nil,
        asksClients: Bool = false, ticketCount: Int? = nil, timestamps: [UInt8]? = nil, stapleSeconds: Int? = nil
    ) -> TLSIdentity {
        serialNumber += 1
        let leafKey = Self.makeKey()
        defer { EVP_PKEY_free(leafKey) }
        let leaf = Self.certify(
            leafKey, subject: "server", issuer: certificate, issuerKey: key, serialNumber: serialNumber,
            extensions: Self.leafExtensions(names), validFrom: from, until: until)
        defer { X509_free(leaf) }
        return TLSIdentity(
            certificate: leaf, der: Self.der(of: leaf), key: leafKey, version: version,
            clientAuthority: asksClients ? certificate : nil, ticketCount: ticketCount, timestamps: timestamps,
            staple: stapleSeconds.map { staple(for: leaf, seconds: $0) })
    }

    /// A server's certificate and key, as in files.
    package func serverFiles(names: String) -> ClientFiles {
        serialNumber += 1
        let key = Self.makeKey()
        defer { EVP_PKEY_free(key) }
        let leaf = Self.certify(
            key, subject: "server", issuer: certificate, issuerKey: self.key, serialNumber: serialNumber,
            extensions: Self.leafExtensions(names), validFrom: -7_200, until: 3_600)
        defer { X509_free(leaf) }
        return ClientFiles(leaf, key, passphrase: nil)
    }

    /// A client's certificate and key, as in files.
    package func clientFiles(passphrase: String? = nil) -> ClientFiles {
        serialNumber += 1
        let key = Self.makeKey()
        defer { EVP_PKEY_free(key) }
        let leaf = Self.certify(
            key, subject: "client", issuer: certificate, issuerKey: self.key, serialNumber: serialNumber,
            extensions: [(NID_basic_constraints, "critical,CA:FALSE"), (NID_ext_key_usage, "clientAuth")], validFrom: -7_200,
            until: 3_600)
        defer { X509_free(leaf) }
        return ClientFiles(leaf, key, passphrase: passphrase)
    }

    /// A self-signed certificate.
    package static func selfSignedIdentity(names: String = "IP:127.0.0.1,DNS:one.test") -> TLSIdentity {
        let key = makeKey()
        defer { EVP_PKEY_free(key) }
        let certificate = certify(
            key, subject: "server", issuer: nil, issuerKey: key, serialNumber: 7, extensions: leafExtensions(names),
            validFrom: -7_200, until: 3_600)
        defer { X509_free(certificate) }
        return TLSIdentity(
            certificate: certificate, der: der(of: certificate), key: key, version: nil, clientAuthority: nil,
            ticketCount: nil)
    }

    /// An OCSP response of this CA: the certificate is good (RFC 6960 §4.2).
    private func staple(for leaf: OpaquePointer, seconds: Int) -> [UInt8] {
        let basic = OCSP_BASICRESP_new()
        let id = OCSP_cert_to_id(EVP_sha256(), leaf, certificate)
        let (start, end) = (X509_gmtime_adj(nil, -60), X509_gmtime_adj(nil, seconds))
        defer {
            OCSP_BASICRESP_free(basic)
            OCSP_CERTID_free(id)
            for time in [start, end] { ASN1_TIME_free(time) }
        }
        precondition(OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_GOOD, 0, nil, start, end) != nil)
        precondition(OCSP_basic_sign(basic, certificate, key, EVP_sha256(), nil, 0) == 1)
        let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        defer { OCSP_RESPONSE_free(response) }
        return [UInt8](unsafeUninitializedCapacity: Int(i2d_OCSP_RESPONSE(response, nil))) { buffer, count in
            var next = buffer.baseAddress
            count = Int(i2d_OCSP_RESPONSE(response, &next))
        }
    }

    private static func leafExtensions(_ names: String) -> [(Int32, String)] {
        [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, names),
        ]
    }

    private static func makeKey() -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        precondition(EVP_PKEY_keygen_init(context) == 1)
        precondition(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1)
        precondition(EVP_PKEY_keygen(context, &key) == 1)
        return key!
    }

    private static func certify(
        _ key: OpaquePointer, subject: String, issuer: OpaquePointer?, issuerKey: OpaquePointer, serialNumber: Int,
        extensions: [(Int32, String)], validFrom: Int, until: Int
    ) -> OpaquePointer {
        let certificate = X509_new()!
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), serialNumber)
        X509_gmtime_adj(X509_getm_notBefore(certificate), validFrom)
        X509_gmtime_adj(X509_getm_notAfter(certificate), until)
        X509_set_pubkey(certificate, key)
        let ascii: Int32 = 0x1001
        X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", ascii, subject, -1, -1, 0)
        X509_set_issuer_name(certificate, X509_get_subject_name(issuer ?? certificate))
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer ?? certificate, certificate, nil, nil, 0)
        for (kind, value) in extensions {
            let made = X509V3_EXT_conf_nid(nil, &context, kind, value)
            precondition(made != nil, value)
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
        precondition(X509_sign(certificate, issuerKey, EVP_sha256()) > 0)
        return certificate
    }

    static func der(of certificate: OpaquePointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(i2d_X509(certificate, nil))) { buffer, count in
            var next = buffer.baseAddress
            count = Int(i2d_X509(certificate, &next))
        }
    }
}
