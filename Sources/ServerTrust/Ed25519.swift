internal import CLarderOpenSSL

/// Signatures with Ed25519 keys (RFC 8032).
package enum Ed25519 {
    /// The lengths of a public key and of a signature, in bytes.
    package static let keyLength = 32, signatureLength = 64

    /// - Returns: a new key; `nil` if OpenSSL fails.
    package static func newKey() -> PrivateKey? {
        ErrorQueue.unchanged {
            guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            var key: OpaquePointer?
            guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1, let key else { return nil }
            return PrivateKey(owning: key)
        }
    }

    /// The public key of a private key, in the encoding of RFC 8032 §5.1.5.
    /// - Returns: `nil` if the key is not an Ed25519 key.
    package static func publicKey(of key: PrivateKey) -> [UInt8]? { publicKey(of: key.pointer) }

    /// The public key in PEM of a public key (SubjectPublicKeyInfo).
    /// - Returns: `nil` if the text contains no public Ed25519 key.
    package static func publicKey(pem text: [UInt8]) -> [UInt8]? {
        ErrorQueue.unchanged {
            text.withUnsafeBytes { text in
                let bio = BIO_new_mem_buf(text.baseAddress, Int32(clamping: text.count))
                defer { BIO_free(bio) }
                guard let pointer = PEM_read_bio_PUBKEY(bio, nil, nil, nil) else { return nil }
                defer { EVP_PKEY_free(pointer) }
                return publicKey(of: pointer)
            }
        }
    }

    /// The key as PEM (PKCS #8), not encrypted.
    /// - Returns: `nil` if OpenSSL fails.
    package static func pem(of key: PrivateKey) -> String? {
        written { PEM_write_bio_PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) }
    }

    /// The public key as PEM (SubjectPublicKeyInfo).
    /// - Returns: `nil` if OpenSSL fails.
    package static func publicPEM(of key: PrivateKey) -> String? { written { PEM_write_bio_PUBKEY($0, key.pointer) } }

    /// - Returns: the signature of the message; `nil` if OpenSSL cannot sign with this key.
    package static func signature(of message: [UInt8], by key: PrivateKey) -> [UInt8]? {
        var signature = [UInt8](repeating: 0, count: signatureLength)
        var count = signature.count
        let result = ErrorQueue.unchanged { () -> Int32 in
            guard let context = EVP_MD_CTX_new() else { return 0 }
            defer { EVP_MD_CTX_free(context) }
            guard EVP_DigestSignInit(context, nil, nil, nil, key.pointer) == 1 else { return 0 }
            return EVP_DigestSign(context, &signature, &count, message, message.count)
        }
        return result == 1 && count == signatureLength ? signature : nil
    }

    /// Whether the signature is the message's, by this public key.
    package static func accepts(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        guard publicKey.count == keyLength, signature.count == signatureLength else { return false }
        return ErrorQueue.unchanged {
            guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count) else { return false }
            defer { EVP_PKEY_free(key) }
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
            return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
    }

    private static func publicKey(of pointer: OpaquePointer) -> [UInt8]? {
        guard EVP_PKEY_get_id(pointer) == EVP_PKEY_ED25519 else { return nil }
        var publicKey = [UInt8](repeating: 0, count: keyLength)
        var count = publicKey.count
        guard EVP_PKEY_get_raw_public_key(pointer, &publicKey, &count) == 1, count == keyLength else { return nil }
        return publicKey
    }

    private static func written(_ write: (OpaquePointer) -> Int32) -> String? {
        ErrorQueue.unchanged {
            guard let bio = BIO_new(BIO_s_mem()) else { return nil }
            defer { BIO_free(bio) }
            guard write(bio) == 1 else { return nil }
            var bytes: UnsafeMutablePointer<CChar>?
            let count = copenssl_memory_of(bio, &bytes)
            guard let bytes, count > 0 else { return nil }
            let text = UnsafeRawBufferPointer(start: bytes, count: count)
            return String(decoding: text, as: UTF8.self)
        }
    }
}
