internal import CLarderOpenSSL
public import ServerTrust

/// The properties of a CA's root. They can be examined without the key.
public struct RootProfile: Sendable {
    /// The root certificate.
    public let root: Certificate
    /// The hosts that the CA may certify; `nil` for every host.
    public let constraint: NameConstraint?
    let validity: CertificateValidity

    /// - Throws: `notAnAuthority`, `noKeyIdentifier` or `unknownConstraint` if `LocalAuthority` could not use the root.
    public init(_ root: Certificate) throws(AuthorityFault) {
        guard root.mayIssueLeaves, let validity = CertificateValidity(of: root) else { throw .notAnAuthority }
        let keyIdentifier = ErrorQueue.unchanged { X509_get0_subject_key_id(root.pointer) }
        guard keyIdentifier != nil else { throw .noKeyIdentifier }
        constraint = try NameConstraint.read(of: root)
        self.root = root
        self.validity = validity
    }

    /// Whether the root has expired.
    public func hasEnded(at now: POSIXTime) -> Bool { now > validity.last }
}
