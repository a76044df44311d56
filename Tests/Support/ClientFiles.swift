import CLarderOpenSSL

/// A client's certificate and key, as in files.
package struct ClientFiles: Sendable {
    /// PEM.
    package let certificate: [UInt8]
    /// PEM, encrypted if there is a passphrase.
    package let key: [UInt8]
    package let pkcs12: [UInt8]
    /// An archive without a MAC, so its integrity cannot be verified.
    package let unsealedPKCS12: [UInt8]
    /// The private number of the key; with a passphrase, no file contains it in clear text.
    package let secret: [UInt8]

    init(_ certificate: OpaquePointer, _ privateKey: OpaquePointer, passphrase: String?) {
        self.certificate = Self.written { PEM_write_bio_X509($0, certificate) }
        secret = Self.secret(of: privateKey)
        let cipher = passphrase == nil ? nil : EVP_aes_256_cbc()
        let octets = Array((passphrase ?? "").utf8)
        key = Self.written {
            PEM_write_bio_PKCS8PrivateKey(
                $0, privateKey, cipher, octets.map { CChar(bitPattern: $0) }, Int32(octets.count), nil, nil)
        }
        func archive(rounds: Int32) -> [UInt8] {
            let archive = PKCS12_create(passphrase ?? "", "client", privateKey, certificate, nil, 0, 0, 0, rounds, 0)
            defer { PKCS12_free(archive) }
            return Self.written { i2d_PKCS12_bio($0, archive) }
        }
        pkcs12 = archive(rounds: 0)
        unsealedPKCS12 = archive(rounds: -1)
    }

    private static func secret(of key: OpaquePointer) -> [UInt8] {
        var number: OpaquePointer?
        precondition(EVP_PKEY_get_bn_param(key, "priv", &number) == 1)
        defer { BN_clear_free(number) }
        var octets = [UInt8](repeating: 0, count: 32)
        precondition(BN_bn2binpad(number, &octets, 32) == 32)
        return octets
    }

    private static func written(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        precondition(write(bio) == 1)
        var bytes: UnsafeMutablePointer<CChar>?
        let count = copenssl_memory_of(bio, &bytes)
        return UnsafeRawBufferPointer(start: bytes, count: count).map { $0 }
    }
}
