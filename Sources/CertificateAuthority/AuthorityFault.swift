/// Why there is no authority. None of it tells anything of what stands in a key.
public enum AuthorityFault: Error, Equatable, Sendable {
    /// Not one certificate in PEM.
    case unreadableCertificate
    case unreadableKey
    case passphraseMissing
    case passphraseWrong
    /// The key is not that of the certificate.
    case keyOfAnother
    /// The key is of another kind than this authority makes.
    case notP256
    /// The certificate may not issue others, or has no time.
    case notAnAuthority
    /// The certificate has no subject key identifier, which every leaf would have to name (RFC 5280 §4.2.1.2).
    case noKeyIdentifier
    /// The certificate has name constraints that this authority would not have written, so that it cannot say what they permit.
    case unknownConstraint
    /// OpenSSL failed: no chance to draw from, or no memory.
    case cryptographyFailed
}

/// Why a host gets no certificate.
public enum LeafRefusal: Error, Equatable, Sendable {
    /// The root's constraint does not permit it; clients would refuse the leaf.
    case outsideConstraint
    case rootNotYetValid
    case rootExpired
    /// OpenSSL failed: no chance to draw from, or no memory.
    case cryptographyFailed
}
