internal import CLarderOpenSSL

/// The certificates and other data that a server sent in a handshake.
public struct ServerEvidence: Sendable {
    /// Maximum number of certificates; with more the evidence is malformed.
    public static let certificateLimit = 32

    /// The certificates in the order in which they were sent, the server's own first. The others are only used to build a chain. Empty if
    /// one of them is malformed, or if there are too many: then the evidence is `malformed`.
    public let certificates: [Certificate]
    /// The OCSP response of the handshake (RFC 6066 §8), as received.
    public let stapledResponse: [UInt8]?
    /// The SignedCertificateTimestampList of the handshake (RFC 6962 §3.3.1), as received.
    public let signedTimestamps: [UInt8]?
    /// The negotiated TLS version. If it is not known, it is `nil` and is not checked.
    public let tlsVersion: TLSVersion?

    /// The data of a handshake.
    public init(
        certificates: [Certificate], stapledResponse: [UInt8]? = nil, signedTimestamps: [UInt8]? = nil,
        tlsVersion: TLSVersion? = nil
    ) {
        self.certificates = certificates.count > Self.certificateLimit ? [] : certificates
        self.stapledResponse = stapledResponse
        self.signedTimestamps = signedTimestamps
        self.tlsVersion = tlsVersion
    }

    /// - Parameters:
    ///   - chain: certificates in DER, the server's first.
    ///   - stapledResponse: the OCSP response in DER, if the server sent one.
    ///   - signedTimestamps: the list in the extension of the handshake (RFC 6962 §3.3.1), if there was one.
    ///   - tlsVersion: the negotiated version, if it is known.
    public init(
        chain: [[UInt8]], stapledResponse: [UInt8]? = nil, signedTimestamps: [UInt8]? = nil, tlsVersion: TLSVersion? = nil
    ) {
        let certificates = chain.prefix(Self.certificateLimit + 1).map(Certificate.init(der:))
        self.init(
            certificates: certificates.contains(nil) ? [] : certificates.compactMap { $0 },
            stapledResponse: stapledResponse, signedTimestamps: signedTimestamps, tlsVersion: tlsVersion)
    }

    /// - Parameters:
    ///   - leaf: an `X509`, the server's.
    ///   - others: a `STACK_OF(X509)` of the certificates sent, with or without the leaf, as in the context of libssl's verify
    ///     callback. The certificates are retained; the caller keeps its own references.
    package init(
        leaf: OpaquePointer, others: OpaquePointer?, stapledResponse: [UInt8]? = nil, signedTimestamps: [UInt8]? = nil,
        tlsVersion: TLSVersion? = nil
    ) {
        // A null entry, which OpenSSL does not produce, makes the whole evidence malformed.
        var pointers: [OpaquePointer?] = [leaf]
        for index in 0..<max(0, copenssl_certificates_count(others)) where pointers.count <= Self.certificateLimit {
            let pointer = copenssl_certificates_at(others, index)
            if pointer != leaf { pointers.append(pointer) }
        }
        let certificates = pointers.map { $0.flatMap(Certificate.init(sharing:)) }
        self.init(
            certificates: certificates.contains(nil) ? [] : certificates.compactMap { $0 },
            stapledResponse: stapledResponse, signedTimestamps: signedTimestamps, tlsVersion: tlsVersion)
    }
}
