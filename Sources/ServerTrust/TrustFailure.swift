/// Why a server is not trusted. Failures are equal if their reasons are.
public struct TrustFailure: Error, Equatable, Sendable {
    /// A closed list. The raw values are public interface: errors, logs and metrics contain them.
    public enum Reason: String, CaseIterable, Sendable {
        /// A malformed certificate, revocation list or OCSP response, or any unexpected error.
        case malformed
        /// The chain ends at a self-signed certificate that is not an anchor.
        case untrustedRoot = "untrusted_root"
        /// The issuer of the chain's last certificate was not sent, and is not an anchor.
        case incompleteChain = "incomplete_chain"
        case chainTooLong = "chain_too_long"
        /// A certificate is not signed by the key of the next one in the chain.
        case badSignature = "bad_signature"
        case expired
        case notYetValid = "not_yet_valid"
        case hostMismatch = "host_mismatch"
        case pinMismatch = "pin_mismatch"
        /// The pins have expired.
        case emptyPins = "empty_pins"
        case weakKey = "weak_key"
        case weakSignature = "weak_signature"
        case weakProtocol = "weak_protocol"
        case nameConstraint = "name_constraint"
        /// A certificate that may not be used for a server, or an issuer that is not allowed to issue certificates.
        case wrongUsage = "wrong_usage"
        /// A critical extension that is not supported (RFC 5280 §4.2).
        case criticalExtension = "critical_extension"
        case revoked
        /// The policy requires a known revocation status, but the status is unknown.
        case revocationUnknown = "revocation_unknown"
        /// The set of policies denies hosts without an entry.
        case hostNotAllowed = "host_not_allowed"

        /// `rawValue`, for callers that need a `StaticString`.
        package var word: StaticString {
            switch self {
            case .malformed: "malformed"
            case .untrustedRoot: "untrusted_root"
            case .incompleteChain: "incomplete_chain"
            case .chainTooLong: "chain_too_long"
            case .badSignature: "bad_signature"
            case .expired: "expired"
            case .notYetValid: "not_yet_valid"
            case .hostMismatch: "host_mismatch"
            case .pinMismatch: "pin_mismatch"
            case .emptyPins: "empty_pins"
            case .weakKey: "weak_key"
            case .weakSignature: "weak_signature"
            case .weakProtocol: "weak_protocol"
            case .nameConstraint: "name_constraint"
            case .wrongUsage: "wrong_usage"
            case .criticalExtension: "critical_extension"
            case .revoked: "revoked"
            case .revocationUnknown: "revocation_unknown"
            case .hostNotAllowed: "host_not_allowed"
            }
        }
    }

    /// Why the server is not trusted.
    public let reason: Reason
    /// The host, as passed by the caller.
    public let host: String
    /// The position in the chain of the certificate at fault, 0 for the server's; `nil` if none is at fault.
    public let depth: Int?
    /// The certificate at fault; `nil` if none is.
    public let certificate: CertificateFacts?
    /// The pinned digests, at most 100; empty without pins.
    public let expectedDigests: [SHA256Digest]
    /// The digests of `chain`, the server's first: digests of the keys, or of the certificates if certificates are pinned.
    public let seenDigests: [SHA256Digest]
    /// The chain that was checked. If only host, dates, strength or pins are at fault, this is the verified chain; otherwise the chain as
    /// far as it was built, or as it was sent.
    public let chain: [Certificate]
    /// The key of the server's own certificate; `nil` if the server sent no certificate.
    public let serverKeyDigest: SHA256Digest?
    /// Where the policy is defined (`TrustPolicy.source`).
    public let policySource: String

    /// If there are more pins than this, only the first ones are listed.
    public static let expectedDigestsLimit = 100

    public static func == (left: TrustFailure, right: TrustFailure) -> Bool { left.reason == right.reason }
}

extension TrustFailure: CustomStringConvertible {
    public var description: String {
        guard let certificate else { return "\(reason.rawValue): \(Certificate.escaped(host.utf8))" }
        return "\(reason.rawValue): \(Certificate.escaped(host.utf8)), certificate \(depth ?? 0): \(certificate.subject)"
    }
}
