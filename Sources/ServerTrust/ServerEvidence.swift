internal import COpenSSL

/// What a server shows of itself in a handshake.
public struct ServerEvidence: Sendable {
    /// More certificates than this are not looked at: the evidence is malformed.
    public static let certificateLimit = 32

    /// As sent, the server's own first. The others are only material to build a chain of. Empty where one of them could not
    /// be read, or where there were too many: such evidence is `malformed`.
    public let certificates: [Certificate]
    /// The OCSP response of the handshake (RFC 6066 §8), as it came.
    public let stapledResponse: [UInt8]?
    /// The SignedCertificateTimestampList of the handshake (RFC 6962 §3.3.1), as it came.
    public let signedTimestamps: [UInt8]?
    /// `nil` where it is not known; it is not judged then.
    public let tlsVersion: TLSVersion?

    /// What a handshake has shown.
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
    ///   - stapledResponse: the OCSP response in DER, where one came along.
    ///   - signedTimestamps: the list in the extension of the handshake (RFC 6962 §3.3.1), where there was one.
    ///   - tlsVersion: that was agreed on, where it is known.
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
    ///   - others: a `STACK_OF(X509)` of what was sent, with or without the leaf, as libssl's verify callback has them in
    ///     its context. Both are shared, not taken.
    package init(
        leaf: OpaquePointer, others: OpaquePointer?, stapledResponse: [UInt8]? = nil, signedTimestamps: [UInt8]? = nil,
        tlsVersion: TLSVersion? = nil
    ) {
        // An empty place in the list, which is none of OpenSSL's, makes the whole unreadable.
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
