internal import CLarderOpenSSL
internal import ServerTrust

/// AES-256-GCM (NIST SP 800-38D). Each key is derived from a salt of its own and encrypts at most `EntryLimits.pieceCount` messages, whose
/// nonces are their numbers: no nonce is used twice under a key.
///
/// One thread at a time may use it.
final class AEAD {
    static let tagLength = 16
    private let encryption: OpaquePointer
    private let decryption: OpaquePointer

    init() {
        guard let encryption = EVP_CIPHER_CTX_new(), let decryption = EVP_CIPHER_CTX_new(),
            EVP_EncryptInit_ex(encryption, EVP_aes_256_gcm(), nil, nil, nil) == 1,
            EVP_DecryptInit_ex(decryption, EVP_aes_256_gcm(), nil, nil, nil) == 1
        else { preconditionFailure("AES-256-GCM is not to be had") }
        self.encryption = encryption
        self.decryption = decryption
    }

    deinit {
        EVP_CIPHER_CTX_free(encryption)
        EVP_CIPHER_CTX_free(decryption)
    }

    /// Appends the ciphertext and its tag.
    func seal(_ plain: Span<UInt8>, key: SHA256Words, number: Int, context: Span<UInt8>, into output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: plain.count + Self.tagLength))
        let isGood = output.withUnsafeMutableBufferPointer { output in
            prepare(encryption, key, number, isEncryption: true) && authenticate(context, encryption, isEncryption: true)
                && plain.withUnsafeBufferPointer { plain in
                    var count: Int32 = 0
                    let place = output.baseAddress.map { $0 + start }
                    guard
                        plain.isEmpty || EVP_EncryptUpdate(encryption, place, &count, plain.baseAddress, Int32(plain.count)) == 1
                    else { return false }
                    let end = place.map { $0 + plain.count }
                    return EVP_EncryptFinal_ex(encryption, end, &count) == 1
                        && EVP_CIPHER_CTX_ctrl(encryption, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), end) == 1
                }
        }
        // OpenSSL fails here only without memory. Plain bytes must never be written as if they were encrypted.
        precondition(isGood, "AES-256-GCM is not to be had")
    }

    /// - Returns: the plain bytes; `nil` if the ciphertext, its tag, the key or the context differs from what was sealed.
    func open(_ sealed: Span<UInt8>, key: SHA256Words, number: Int, context: Span<UInt8>) -> [UInt8]? {
        guard sealed.count >= Self.tagLength else { return nil }
        let count = sealed.count - Self.tagLength
        return ErrorQueue.unchanged {
            guard prepare(decryption, key, number, isEncryption: false), authenticate(context, decryption, isEncryption: false)
            else { return nil }
            var isGood = false
            let plain = [UInt8](unsafeUninitializedCapacity: max(count, 1)) { output, initialized in
                sealed.withUnsafeBufferPointer { sealed in
                    guard let start = sealed.baseAddress else { return }
                    var written: Int32 = 0
                    if count > 0 {
                        guard EVP_DecryptUpdate(decryption, output.baseAddress, &written, start, Int32(count)) == 1 else {
                            return
                        }
                        initialized = count
                    }
                    let tag = UnsafeMutableRawPointer(mutating: start + count)
                    guard EVP_CIPHER_CTX_ctrl(decryption, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), tag) == 1 else { return }
                    var rest: UInt8 = 0
                    isGood = EVP_DecryptFinal_ex(decryption, &rest, &written) == 1
                }
            }
            return isGood ? plain : nil
        }
    }

    private func prepare(_ cipher: OpaquePointer, _ key: SHA256Words, _ number: Int, isEncryption: Bool) -> Bool {
        var nonce: InlineArray<12, UInt8> = .init(repeating: 0)
        for index in 0..<4 { nonce[11 - index] = UInt8(truncatingIfNeeded: number >> (index * 8)) }
        return key.withBytes { key in
            key.withUnsafeBufferPointer { key in
                nonce.span.withUnsafeBufferPointer { nonce in
                    isEncryption
                        ? EVP_EncryptInit_ex(cipher, nil, nil, key.baseAddress, nonce.baseAddress) == 1
                        : EVP_DecryptInit_ex(cipher, nil, nil, key.baseAddress, nonce.baseAddress) == 1
                }
            }
        }
    }

    private func authenticate(_ context: Span<UInt8>, _ cipher: OpaquePointer, isEncryption: Bool) -> Bool {
        context.withUnsafeBufferPointer { context in
            var count: Int32 = 0
            let length = Int32(context.count)
            return isEncryption
                ? EVP_EncryptUpdate(cipher, nil, &count, context.baseAddress, length) == 1
                : EVP_DecryptUpdate(cipher, nil, &count, context.baseAddress, length) == 1
        }
    }
}
