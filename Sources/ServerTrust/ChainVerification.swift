internal import CLarderOpenSSL

/// A chain in which each certificate is signed by the key of the next, and which ends where the policy allows.
struct VerifiedChain {
    let certificates: [Certificate]
    /// Faults that the policy allowed.
    let allowed: Set<TrustFailure.Reason>

    var endsAtAnchor: Bool { !allowed.contains(.untrustedRoot) && !allowed.contains(.incompleteChain) }
}

/// Why a chain could not be verified, before host and pins are checked.
struct ChainFault: Error {
    let reason: TrustFailure.Reason
    var depth: Int?
    var certificate: Certificate?
    /// The chain, as far as it was built.
    var chain: [Certificate] = []
}

/// One run of `X509_verify_cert` (RFC 5280 §6): it builds the chain and checks signatures, usage, path lengths, name
/// constraints, critical extensions and revocation lists. Larder itself then checks dates, keys, digests and names.
struct ChainVerification {
    /// Maximum number of intermediates between the server's certificate and the anchor.
    static let intermediatesLimit: Int32 = 8

    let anchors: TrustAnchors
    let allowsUntrustedRoot: Bool
    let revocation: Revocation

    func verify(_ presented: [Certificate], at now: POSIXTime) throws(ChainFault) -> VerifiedChain {
        guard let leaf = presented.first, let untrusted = CertificateStack(presented.dropFirst()),
            let context = VerificationContext(anchors: anchors, leaf: leaf, untrusted: untrusted)
        else { throw ChainFault(reason: .malformed) }
        context.ask(about: revocation, at: now)
        var findings = Findings(allowsUntrustedRoot: allowsUntrustedRoot, listCheck: revocation.listCheck)
        let isVerified = context.verify(into: &findings)
        let chain = context.chain
        if var fault = findings.fault {
            fault.chain = chain
            throw fault
        }
        // OpenSSL's verification failed without reporting a fault.
        guard isVerified, chain.first == leaf else { throw ChainFault(reason: .malformed, chain: chain) }
        return VerifiedChain(certificates: chain, allowed: findings.allowed)
    }
}

/// Collects the errors of OpenSSL's verification, and decides which are allowed.
struct Findings {
    let allowsUntrustedRoot: Bool
    let listCheck: Revocation.Check
    private(set) var allowed: Set<TrustFailure.Reason> = []
    private(set) var fault: ChainFault?

    init(allowsUntrustedRoot: Bool, listCheck: Revocation.Check) {
        self.allowsUntrustedRoot = allowsUntrustedRoot
        self.listCheck = listCheck
    }

    /// - Returns: whether the verification continues.
    mutating func goesOn(after code: Int32, certificate: OpaquePointer?, depth: Int, chainCount: Int) -> Bool {
        // Dates are checked later. OpenSSL treats the last second as expired (RFC 5280 §4.1.2.5 includes it), and does not
        // check all dates if the root is untrusted.
        if code == X509_V_ERR_CERT_HAS_EXPIRED || code == X509_V_ERR_CERT_NOT_YET_VALID { return true }
        let reason = TrustFailure.Reason(verification: code)
        switch reason {
        case .untrustedRoot where allowsUntrustedRoot, .incompleteChain where allowsUntrustedRoot:
            allowed.insert(reason)
            return true
        case .revocationUnknown where depth > 0 && depth == chainCount - 1:
            // The chain does not contain the issuer of its last certificate, so an unknown status of that certificate is accepted.
            return true
        case .revocationUnknown where listCheck == .soft && Self.isLackOfList(code):
            allowed.insert(reason)
            return true
        default:
            if fault == nil {
                let certificate = certificate.flatMap(Certificate.init(sharing:))
                // OpenSSL reports a malformed extension as wrong usage.
                let isUnreadable = certificate?.hasUnreadableExtensions == true
                fault = ChainFault(reason: isUnreadable ? .malformed : reason, depth: depth, certificate: certificate)
            }
            return false
        }
    }

    /// Whether the revocation list is only missing or out of date, as opposed to invalid.
    private static func isLackOfList(_ code: Int32) -> Bool {
        [
            X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_CRL_NOT_YET_VALID,
            X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_DIFFERENT_CRL_SCOPE,
        ].contains(code)
    }
}

extension TrustFailure.Reason {
    /// The reason for one of OpenSSL's error codes; `malformed` for unexpected codes.
    init(verification code: Int32) {
        switch code {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED,
            X509_V_ERR_CERT_REJECTED:
            self = .untrustedRoot
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            self = .incompleteChain
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: self = .chainTooLong
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
            X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH:
            self = .badSignature
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            self = .nameConstraint
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_PATH_LENGTH_EXCEEDED,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE,
            X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA, X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN,
            X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA, X509_V_ERR_PROXY_CERTIFICATES_NOT_ALLOWED:
            self = .wrongUsage
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: self = .criticalExtension
        case X509_V_ERR_CERT_REVOKED: self = .revoked
        case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE, X509_V_ERR_CRL_SIGNATURE_FAILURE,
            X509_V_ERR_CRL_NOT_YET_VALID, X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD,
            X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD, X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER,
            X509_V_ERR_KEYUSAGE_NO_CRL_SIGN, X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION,
            X509_V_ERR_DIFFERENT_CRL_SCOPE, X509_V_ERR_CRL_PATH_VALIDATION_ERROR:
            self = .revocationUnknown
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: self = .weakKey
        case X509_V_ERR_CA_MD_TOO_WEAK: self = .weakSignature
        default: self = .malformed
        }
    }
}
