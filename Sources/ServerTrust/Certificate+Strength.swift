internal import CLarderOpenSSL

extension Certificate {
    /// Whether an extension is malformed or repeated.
    var hasUnreadableExtensions: Bool { X509_get_extension_flags(pointer) & UInt32(EXFLAG_INVALID) != 0 }

    /// Whether the certificate's basic constraints allow it to issue certificates. A key usage without basic constraints, as in old
    /// certificates, is not enough (RFC 5280 §4.2.1.9).
    var saysItIsAuthority: Bool { X509_check_ca(pointer) == 1 }

    /// - Returns: `nil` if the key cannot be read.
    func hasStrongKey(_ sizes: KeySizes) -> Bool? {
        guard let key = X509_get0_pubkey(pointer) else { return nil }
        let bits = Int(EVP_PKEY_get_bits(key))
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return bits >= sizes.rsa
        case EVP_PKEY_EC: return bits >= sizes.ellipticCurve && !Self.hasCurveOfItsOwn(key)
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: return true
        default: return false
        }
    }

    /// Whether the key defines its curve by explicit parameters instead of a name, which RFC 5480 §2.1.1 forbids: a forger could choose
    /// the generator.
    private static func hasCurveOfItsOwn(_ key: OpaquePointer) -> Bool {
        var isExplicit: Int32 = 0
        return EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit) == 1 && isExplicit != 0
    }

    func hasStrongSignature(refused: Set<SignatureDigest>) -> Bool {
        var digest: Int32 = 0
        var key: Int32 = 0
        guard X509_get_signature_info(pointer, &digest, &key, nil, nil) == 1 else { return false }
        // Ed25519 and Ed448 signatures have a fixed digest of their own.
        if digest == NID_undef { return key == NID_ED25519 || key == NID_ED448 }
        guard let known = SignatureDigest(identifier: digest) else { return false }
        return !refused.contains(known)
    }
}

extension SignatureDigest {
    fileprivate init?(identifier: Int32) {
        switch identifier {
        case NID_md5: self = .md5
        case NID_sha1: self = .sha1
        case NID_sha224: self = .sha224
        case NID_sha256: self = .sha256
        case NID_sha384: self = .sha384
        case NID_sha512: self = .sha512
        default: return nil
        }
    }
}
