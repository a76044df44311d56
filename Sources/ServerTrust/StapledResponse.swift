internal import CLarderOpenSSL

/// The OCSP response that a server sends in the handshake (RFC 6960, RFC 6066 §8).
struct StapledResponse: ~Copyable {
    enum Finding: Equatable {
        /// The certificate is good, and the response is valid until this time.
        case good(until: POSIXTime)
        case revoked
        /// Malformed, unverified, for another certificate, out of date, or with an indefinite status.
        case unknown
    }

    static let octetLimit = 64 * 1024

    private let basic: OpaquePointer

    /// - Returns: `nil` if the bytes are not a successful basic response.
    init?(_ octets: [UInt8]) {
        guard octets.count <= Self.octetLimit,
            let response = DER.read(octets, by: { d2i_OCSP_RESPONSE(nil, &$0, $1) }, release: { OCSP_RESPONSE_free($0) }),
            OCSP_response_status(response.pointer) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
            let basic = OCSP_response_get1_basic(response.pointer)
        else { return nil }
        self.basic = basic
    }

    deinit { OCSP_BASICRESP_free(basic) }

    /// The status of the certificate, if the response is signed by the certificate's issuer, or by a responder that the issuer certified
    /// for that purpose (RFC 6960 §4.2.2.2). OpenSSL's own verification of the signer would read the system clock.
    func finding(of certificate: Certificate, issuer: Certificate, at now: POSIXTime) -> Finding {
        guard let issuers = CertificateStack([issuer]),
            OCSP_basic_verify(basic, issuers.pointer, nil, UInt(OCSP_NOVERIFY)) == 1
        else { return .unknown }
        var signer: OpaquePointer?
        guard OCSP_resp_get0_signer(basic, &signer, issuers.pointer) == 1,
            let signer = signer.flatMap(Certificate.init(sharing:)),
            signer == issuer || Self.mayAnswer(signer, for: issuer, at: now)
        else { return .unknown }
        for index in 0..<max(0, OCSP_resp_count(basic)) {
            guard let single = OCSP_resp_get0(basic, index), Self.isAbout(single, certificate, issuer: issuer) else { continue }
            return Self.finding(single, at: now)
        }
        return .unknown
    }

    private static func mayAnswer(_ signer: Certificate, for issuer: Certificate, at now: POSIXTime) -> Bool {
        guard let notBefore = signer.notBefore, let notAfter = signer.notAfter, (notBefore...notAfter).contains(now) else {
            return false
        }
        let usage = UInt32(EXFLAG_XKUSAGE)
        return X509_check_issued(issuer.pointer, signer.pointer) == X509_V_OK
            && X509_verify(signer.pointer, X509_get0_pubkey(issuer.pointer)) == 1
            && X509_get_extension_flags(signer.pointer) & usage == usage
            && X509_get_extended_key_usage(signer.pointer) & UInt32(XKU_OCSP_SIGN) != 0
    }

    private static func isAbout(_ single: OpaquePointer, _ certificate: Certificate, issuer: Certificate) -> Bool {
        guard let told = OCSP_SINGLERESP_get0_id(single) else { return false }
        var algorithm: OpaquePointer?
        guard OCSP_id_get0_info(nil, &algorithm, nil, nil, told) == 1,
            let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm))),
            let asked = OCSP_cert_to_id(digest, certificate.pointer, issuer.pointer)
        else { return false }
        defer { OCSP_CERTID_free(asked) }
        return OCSP_id_cmp(asked, told) == 0
    }

    private static func finding(_ single: OpaquePointer, at now: POSIXTime) -> Finding {
        var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let status = OCSP_single_get0_status(single, nil, nil, &thisUpdate, &nextUpdate)
        if status == V_OCSP_CERTSTATUS_REVOKED { return .revoked }
        // Without nextUpdate it is unknown how long the response is valid.
        guard status == V_OCSP_CERTSTATUS_GOOD, let start = Certificate.time(thisUpdate), let end = Certificate.time(nextUpdate),
            start <= now, now <= end
        else { return .unknown }
        return .good(until: end)
    }
}

extension Certificate {
    /// Whether the certificate requires a stapled OCSP response in the handshake (RFC 7633).
    var requiresStaple: Bool { X509_get_ext_by_NID(pointer, NID_tlsfeature, -1) >= 0 }
}
