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
        guard let octets = Ed25519.publicKey(of: key) else { throw .unusableKey("the key is not an Ed25519 key") }
        self.key = key
        verifying = VerifyingKey(octets: octets)
    }

    /// Signs the Merkle root `full`.
    func signature(of full: SHA256Digest) throws(SnapshotError) -> [UInt8] {
        guard let signature = Ed25519.signature(of: VerifyingKey.message(full), by: key) else {
            throw .unusableKey("OpenSSL cannot sign with this key")
        }
        return signature
    }
}

/// The public key, which verifies signatures.
package struct VerifyingKey: Hashable, Sendable, CustomStringConvertible {
    /// The key in the encoding of RFC 8032 §5.1.5.
    package let octets: [UInt8]

    init(octets: [UInt8]) { self.octets = octets }

    /// - Parameter text: PEM of a public key (SubjectPublicKeyInfo), or of a private key.
    package init(pem text: [UInt8]) throws(SnapshotError) {
        if let found = Ed25519.publicKey(pem: text) {
            octets = found
        } else {
            octets = try SigningKey(pem: text).verifying.octets
        }
    }

    /// The signed message: the root with a prefix, so that the signature is not valid for any other purpose.
    static func message(_ full: SHA256Digest) -> [UInt8] { Array("larder-snapshot-signature-1\0".utf8) + full.octets }

    func accepts(_ signature: [UInt8], of full: SHA256Digest) -> Bool {
        Ed25519.accepts(signature, of: Self.message(full), by: octets)
    }

    /// SHA-256 of the key's bytes, in hexadecimal. Settings may name the key by this digest.
    package var description: String { Hexadecimal.encode(SHA256Digest(of: octets).octets) }
}
