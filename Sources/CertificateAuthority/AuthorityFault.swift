/// Why a CA cannot be made or loaded. The values reveal nothing of a key's content.
public enum AuthorityFault: Error, Equatable, Sendable {
    /// The text is not exactly one certificate in PEM.
    case unreadableCertificate
    case unreadableKey
    case passphraseMissing
    case passphraseWrong
    /// The key does not belong to the certificate.
    case keyOfAnother
    /// The key is of a kind that this CA does not make.
    case notP256
    /// The certificate may not issue others, or its validity is unreadable.
    case notAnAuthority
    /// The certificate has no subject key identifier, which every leaf must refer to (RFC 5280 §4.2.1.2).
    case noKeyIdentifier
    /// The certificate has name constraints in a form that this CA does not write, so it is unknown which hosts they permit.
    case unknownConstraint
    /// OpenSSL failed: no randomness, or no memory.
    case cryptographyFailed
}

/// Why no certificate is issued for a host.
public enum LeafRefusal: Error, Equatable, Sendable {
    /// The root's name constraint does not permit the host, so clients would reject the leaf.
    case outsideConstraint
    case rootNotYetValid
    case rootExpired
    /// OpenSSL failed: no randomness, or no memory.
    case cryptographyFailed
}
