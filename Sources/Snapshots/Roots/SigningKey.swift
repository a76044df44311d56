internal import COpenSSL
import HTTPMessage
import ServerTrust

/// An Ed25519 key (RFC 8032) that signs snapshots. Descriptions and errors never contain the key.
package struct SigningKey: Sendable {
    private let key: PrivateKey
    package let verifying: VerifyingKey

    /// - Parameter text: PEM (PKCS #8), as `openssl genpkey -algorithm ed25519` writes it.
    package init(pem text: [UInt8], passphrase: [UInt8]? = nil) throws(SnapshotError) {
        let key: PrivateKey
        do throws(PrivateKey.Fault) {
            key = try PrivateKey(pem: text, passphrase: passphrase)
        } catch {
            throw .unusableKey("\(error)")
        }
        guard let octets = Self.publicOctets(of: key.pointer) else { throw .unusableKey("the key is not an Ed25519 key") }
        self.key = key
        verifying = VerifyingKey(octets: octets)
    }

    /// Signs the Merkle root `full`.
    func signature(of full: SHA256Digest) throws(SnapshotError) -> [UInt8] {
        let message = VerifyingKey.message(full)
        var signature = [UInt8](repeating: 0, count: VerifyingKey.signatureLength)
        var count = signature.count
        let result = ErrorQueue.unchanged { () -> Int32 in
            guard let context = EVP_MD_CTX_new() else { return 0 }
            defer { EVP_MD_CTX_free(context) }
            guard EVP_DigestSignInit(context, nil, nil, nil, key.pointer) == 1 else { return 0 }
            return EVP_DigestSign(context, &signature, &count, message, message.count)
        }
        guard result == 1, count == signature.count else { throw .unusableKey("OpenSSL cannot sign with this key") }
        return signature
    }

    static func publicOctets(of pointer: OpaquePointer) -> [UInt8]? {
        guard EVP_PKEY_get_id(pointer) == EVP_PKEY_ED25519 else { return nil }
        var octets = [UInt8](repeating: 0, count: VerifyingKey.length)
        var count = octets.count
        guard EVP_PKEY_get_raw_public_key(pointer, &octets, &count) == 1, count == octets.count else { return nil }
        return octets
    }
}

/// The public key, which verifies signatures.
package struct VerifyingKey: Hashable, Sendable, CustomStringConvertible {
    static let length = 32
    static let signatureLength = 64

    /// The key in the encoding of RFC 8032 §5.1.5.
    package let octets: [UInt8]

    init(octets: [UInt8]) { self.octets = octets }

    /// - Parameter text: PEM of a public key (SubjectPublicKeyInfo), or of a private key.
    package init(pem text: [UInt8]) throws(SnapshotError) {
        let found = ErrorQueue.unchanged {
            text.withUnsafeBytes { text -> [UInt8]? in
                let bio = BIO_new_mem_buf(text.baseAddress, Int32(clamping: text.count))
                defer { BIO_free(bio) }
                guard let pointer = PEM_read_bio_PUBKEY(bio, nil, nil, nil) else { return nil }
                defer { EVP_PKEY_free(pointer) }
                return SigningKey.publicOctets(of: pointer)
            }
        }
        if let found {
            octets = found
        } else {
            octets = try SigningKey(pem: text).verifying.octets
        }
    }

    /// The signed message: the root with a prefix, so that the signature is not valid for any other purpose.
    static func message(_ full: SHA256Digest) -> [UInt8] { Array("larder-snapshot-signature-1\0".utf8) + full.octets }

    func accepts(_ signature: [UInt8], of full: SHA256Digest) -> Bool {
        guard octets.count == Self.length, signature.count == Self.signatureLength else { return false }
        let message = Self.message(full)
        return ErrorQueue.unchanged {
            guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, octets, octets.count) else { return false }
            defer { EVP_PKEY_free(key) }
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
            return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
    }

    /// SHA-256 of the key's bytes, in hexadecimal. Settings may name the key by this digest.
    package var description: String { Hexadecimal.encode(SHA256Digest(of: octets).octets) }
}
