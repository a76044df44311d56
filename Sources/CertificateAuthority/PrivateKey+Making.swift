internal import CLarderOpenSSL
internal import ServerTrust

extension PrivateKey {
    /// The number of hash iterations for a passphrase (PBKDF2 with HMAC-SHA-256, RFC 8018 §5.2): about 0.3 s per guess.
    private static let passphraseRounds: Int32 = 600_000

    /// - Returns: `nil` if OpenSSL fails.
    static func newP256() -> PrivateKey? {
        ErrorQueue.unchanged {
            guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            var key: OpaquePointer?
            guard EVP_PKEY_keygen_init(context) == 1,
                EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
                EVP_PKEY_keygen(context, &key) == 1, let key
            else { return nil }
            return PrivateKey(owning: key)
        }
    }

    var isP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        let isNamed = ErrorQueue.unchanged { EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1 }
        return isNamed && name.prefix(count).map { UInt8(bitPattern: $0) }.elementsEqual("prime256v1".utf8)
    }

    /// The key in PKCS #8 (RFC 5958), encrypted with AES-256 if there is a passphrase.
    /// - Returns: `nil` if OpenSSL fails.
    func pem(passphrase: [UInt8]?) -> String? {
        ErrorQueue.unchanged {
            guard let plain = EVP_PKEY2PKCS8(pointer) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(plain) }
            guard let passphrase else {
                return PEM.text("PRIVATE KEY", der: DER.written { i2d_PKCS8_PRIV_KEY_INFO(plain, $0) })
            }
            let text = passphrase.map { CChar(bitPattern: $0) }
            let byCipher: Int32 = -1
            guard
                let locked = PKCS8_encrypt(
                    byCipher, EVP_aes_256_cbc(), text, Int32(text.count), nil, 0, Self.passphraseRounds, plain)
            else { return nil }
            defer { X509_SIG_free(locked) }
            return PEM.text("ENCRYPTED PRIVATE KEY", der: DER.written { i2d_X509_SIG(locked, $0) })
        }
    }
}

extension Certificate {
    /// Whether this is a CA certificate whose key may sign certificates (RFC 5280 §4.2.1.9, §4.2.1.3).
    var mayIssueLeaves: Bool {
        ErrorQueue.unchanged {
            X509_check_ca(pointer) == 1 && X509_get_key_usage(pointer) & UInt32(KU_KEY_CERT_SIGN) != 0
        }
    }
}
