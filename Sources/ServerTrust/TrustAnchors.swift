internal import CLarderOpenSSL

/// Trusted CA certificates. Each is an anchor by itself, whichever CA issued it. An intermediate or a server's own certificate
/// can end a chain too (RFC 5280 §6.1 allows any name and key as a trust anchor).
///
/// Loading is slow (tens of milliseconds for a system bundle). All threads share the loaded anchors, and using them reads no file.
public struct TrustAnchors: Sendable {
    /// Where systems store the bundle of their anchors: Debian, Ubuntu and Alpine; Fedora and its relatives (new and old);
    /// SUSE; BSD. Callers use the first one that exists.
    public static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    let store: OwnedObject
    /// A digest of the certificates that does not depend on their order.
    let digest: SHA256Digest
    /// How many distinct certificates there are.
    public let count: Int

    /// - Throws: `emptyAnchors`, or `unreadableAnchors` if OpenSSL rejects a certificate.
    public init(_ certificates: [Certificate]) throws(TrustPolicyFault) {
        if certificates.isEmpty { throw .emptyAnchors }
        guard let pointer = X509_STORE_new() else { throw .unreadableAnchors }
        store = OwnedObject(pointer) { X509_STORE_free($0) }
        for certificate in certificates where X509_STORE_add_cert(pointer, certificate.pointer) != 1 {
            throw .unreadableAnchors
        }
        let digests = Set(certificates.map(\.digest)).sorted()
        digest = SHA256Digest(of: digests.flatMap(\.octets))
        count = digests.count
    }

    /// - Parameter bundle: a PEM text in which every certificate must be valid.
    public init(pem bundle: [UInt8]) throws(TrustPolicyFault) {
        guard let certificates = Certificate.reading(pem: bundle) else { throw .unreadableAnchors }
        try self.init(certificates)
    }
}
