internal import COpenSSL

/// Certificates from which trust comes. Each is an anchor by itself, whoever issued it: an intermediate or a server's own
/// certificate ends a chain too (RFC 5280 §6.1 lets a trust anchor be any name and key).
///
/// Loading is slow (tens of milliseconds for a system's), use is shared by all threads and never reads a file.
public struct TrustAnchors: Sendable {
    /// Where systems keep the bundle of their anchors: Debian, Ubuntu and Alpine, Fedora and its like (new and old), SUSE, BSD.
    /// Whoever wants the system's reads the first that is there.
    public static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    let store: OwnedObject
    /// The same for the same certificates in whatever order.
    let digest: SHA256Digest
    /// How many certificates there are.
    public let count: Int

    /// - Throws: `emptyAnchors`, or `unreadableAnchors` where OpenSSL does not take one.
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

    /// - Parameter bundle: a text in PEM, of which every certificate has to be readable.
    public init(pem bundle: [UInt8]) throws(TrustPolicyFault) {
        guard let certificates = Certificate.reading(pem: bundle) else { throw .unreadableAnchors }
        try self.init(certificates)
    }
}
