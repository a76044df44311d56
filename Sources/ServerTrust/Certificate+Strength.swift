internal import COpenSSL

extension Certificate {
    /// An extension that cannot be read, or stands there twice.
    var hasUnreadableExtensions: Bool { X509_get_extension_flags(pointer) & UInt32(EXFLAG_INVALID) != 0 }

    /// Whether it says by its basic constraints that it may issue others; an old key usage without them is not enough
    /// (RFC 5280 §4.2.1.9).
    var saysItIsAuthority: Bool { X509_check_ca(pointer) == 1 }

    /// - Returns: `nil` where the key cannot be read.
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

    /// Parameters in the place of a curve's name (RFC 5480 §2.1.1 forbids them) let a forger choose his own generator.
    private static func hasCurveOfItsOwn(_ key: OpaquePointer) -> Bool {
        var isExplicit: Int32 = 0
        return EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit) == 1 && isExplicit != 0
    }

    func hasStrongSignature(refused: Set<SignatureDigest>) -> Bool {
        var digest: Int32 = 0
        var key: Int32 = 0
        guard X509_get_signature_info(pointer, &digest, &key, nil, nil) == 1 else { return false }
        // The Edwards curves' signatures bring their own digest.
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
