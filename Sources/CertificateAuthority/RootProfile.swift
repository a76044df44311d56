internal import COpenSSL
public import ServerTrust

/// What a root says of its authority. Whoever is to believe it needs no key to look it over.
public struct RootProfile: Sendable {
    /// The certificate that was looked at.
    public let root: Certificate
    /// `nil` where it certifies every host.
    public let constraint: NameConstraint?
    let validity: CertificateValidity

    /// - Throws: `notAnAuthority`, `noKeyIdentifier` or `unknownConstraint`, for what `LocalAuthority` would not certify by.
    public init(_ root: Certificate) throws(AuthorityFault) {
        guard root.mayIssueLeaves, let validity = CertificateValidity(of: root) else { throw .notAnAuthority }
        let keyIdentifier = ErrorQueue.unchanged { X509_get0_subject_key_id(root.pointer) }
        guard keyIdentifier != nil else { throw .noKeyIdentifier }
        constraint = try NameConstraint.read(of: root)
        self.root = root
        self.validity = validity
    }

    /// Whether its last second is over.
    public func hasEnded(at now: POSIXTime) -> Bool { now > validity.last }
}
