internal import CLarderOpenSSL
public import ServerTrust

/// Trusted certificates in PKCS #12 (RFC 7292) as Java reads it: without a key, and each certificate with the attribute that Java requires.
public enum TrustStoreArchive {
    /// The password of archives for Java, which requires one. It protects nothing, because the archive contains no secret.
    public static let usualPassword = "changeit"

    /// Oracle's `trustedKeyUsage`, and its value: any usage (RFC 5280 §4.2.1.12).
    private static let trustedKeyUsage = "2.16.840.1.113894.746875.1.1"
    private static let anyUsage = "2.5.29.37.0"

    /// - Parameters:
    ///   - entries: certificates, each with a unique name.
    ///   - password: protects the archive; `nil` leaves it without a password, as Java expects of its own trust store.
    /// - Returns: the bytes; `nil` if OpenSSL fails.
    public static func octets(
        of entries: [(alias: String, certificate: Certificate)], password: String? = usualPassword
    ) -> [UInt8]? {
        ErrorQueue.unchanged {
            var bags: OpaquePointer?
            defer { copenssl_bags_free(bags) }
            guard entries.allSatisfy({ add($0.certificate, alias: $0.alias, to: &bags) }) else { return nil }
            var safes: OpaquePointer?
            defer { copenssl_safes_free(safes) }
            let unencrypted: Int32 = -1
            let cipher = password == nil ? unencrypted : NID_aes_256_cbc
            guard PKCS12_add_safe(&safes, bags, cipher, rounds, password) == 1, let archive = PKCS12_add_safes(safes, 0) else {
                return nil
            }
            defer { PKCS12_free(archive) }
            if let password, PKCS12_set_mac(archive, password, -1, nil, 0, rounds, EVP_sha256()) != 1 { return nil }
            let octets = DER.written { i2d_PKCS12(archive, $0) }
            return octets.isEmpty ? nil : octets
        }
    }

    /// The number of iterations that OpenSSL and Java use. More iterations would bring no benefit.
    private static let rounds: Int32 = 10_000

    private static func add(_ certificate: Certificate, alias: String, to bags: inout OpaquePointer?) -> Bool {
        guard let bag = PKCS12_add_cert(&bags, certificate.pointer), PKCS12_add_friendlyname_utf8(bag, alias, -1) == 1,
            let usage = OBJ_txt2obj(anyUsage, 1)
        else { return false }
        defer { ASN1_OBJECT_free(usage) }
        return copenssl_bag_add_object_attribute(bag, trustedKeyUsage, usage) == 1
    }
}
