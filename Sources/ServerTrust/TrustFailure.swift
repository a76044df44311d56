/// Why a server is not believed. Two are equal where the reason is.
public struct TrustFailure: Error, Equatable, Sendable {
    /// A closed list. The words are a public interface: they stand in errors, logs and metrics.
    public enum Reason: String, CaseIterable, Sendable {
        /// A certificate, a list or an answer that cannot be read, or anything that was not foreseen.
        case malformed
        /// The chain ends at a self-signed certificate that is no anchor.
        case untrustedRoot = "untrusted_root"
        /// The issuer of the chain's last certificate was not sent, and is no anchor.
        case incompleteChain = "incomplete_chain"
        case chainTooLong = "chain_too_long"
        /// A certificate is not signed by the key of the one that stands above it.
        case badSignature = "bad_signature"
        case expired
        case notYetValid = "not_yet_valid"
        case hostMismatch = "host_mismatch"
        case pinMismatch = "pin_mismatch"
        /// The pins' time is over.
        case emptyPins = "empty_pins"
        case weakKey = "weak_key"
        case weakSignature = "weak_signature"
        case weakProtocol = "weak_protocol"
        case nameConstraint = "name_constraint"
        /// A certificate that may not be a server's, or one that may not issue others and did.
        case wrongUsage = "wrong_usage"
        /// A critical extension that is not understood (RFC 5280 §4.2).
        case criticalExtension = "critical_extension"
        case revoked
        /// Revocation has to be known, and is not.
        case revocationUnknown = "revocation_unknown"
        /// The set of policies denies hosts that it does not name.
        case hostNotAllowed = "host_not_allowed"

        /// `rawValue`, for those who want a word of the code.
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

    /// What is wrong, as a word.
    public let reason: Reason
    /// The host as it was asked for.
    public let host: String
    /// The place of the certificate at fault in the chain, 0 being the server's; `nil` where none is.
    public let depth: Int?
    /// The one at fault; `nil` where it is none of them.
    public let certificate: CertificateFacts?
    /// The digests that were pinned, at most 100; empty where nothing is.
    public let expectedDigests: [SHA256Digest]
    /// The digests of the chain that was looked at, the server's first: of keys, or of certificates where these are pinned.
    public let seenDigests: [SHA256Digest]
    /// That chain itself: the verified one where only host, dates, strength or pins are at fault, else as far as it was built, or what
    /// was sent.
    public let chain: [Certificate]
    /// The key of the certificate that the server showed as its own; `nil` where it showed none.
    public let serverKeyDigest: SHA256Digest?
    /// Where the policy is written (`TrustPolicy.source`).
    public let policySource: String

    /// Of more pins the first are told.
    public static let expectedDigestsLimit = 100

    public static func == (left: TrustFailure, right: TrustFailure) -> Bool { left.reason == right.reason }
}

extension TrustFailure: CustomStringConvertible {
    public var description: String {
        guard let certificate else { return "\(reason.rawValue): \(Certificate.escaped(host.utf8))" }
        return "\(reason.rawValue): \(Certificate.escaped(host.utf8)), certificate \(depth ?? 0): \(certificate.subject)"
    }
}
