/// What was found of a server that is believed.
public struct TrustVerdict: Sendable {
    /// What the stapled response has said.
    public enum Staple: Equatable, Sendable {
        /// The policy does not ask for it.
        case unasked
        /// Not sent, not to be read or verified, too old, or of an unknown certificate: the policy is soft.
        case unknown
        /// The certificate is good.
        case good
    }

    /// The verified chain: the server's certificate first, the anchor last. What the server sent besides is not in it.
    public let chain: [Certificate]
    /// The pin that the chain holds; `nil` without pins, and where their absence is only reported.
    public let matchedPin: Pin?
    /// The earliest last second of the chain's certificates.
    public let expires: POSIXTime
    /// Whole days until `expires`, rounded down; negative where the policy allows what has expired.
    public let daysToExpiry: Int
    /// What would be a failure if the policy did not allow it.
    public let allowed: Set<TrustFailure.Reason>
    /// The failure of pins that are reported on and not enforced.
    public let reported: TrustFailure?
    /// Whether there are pins, and only reported on.
    public let pinsAreOnlyReported: Bool
    /// What the stapled response has said.
    public let staple: Staple
    /// The last second for which the revocation lists and the stapled response speak that were asked; `nil` where none was, or none says so.
    public let revocationKnownUntil: POSIXTime?
    /// How many signed certificate timestamps came with it, in whatever way; `nil` where the policy does not audit them.
    public let signedTimestampCount: Int?
    /// The policy's, as it held then.
    public let fingerprint: SHA256Digest

    /// No chain has more certificates: the server's, those that may stand between, and the anchor.
    package static let chainLimit = Int(ChainVerification.intermediatesLimit) + 2

    /// Whether the chain ends at an anchor, and not wherever the policy lets it end.
    package var endsAtAnchor: Bool { !allowed.contains(.untrustedRoot) && !allowed.contains(.incompleteChain) }
}
