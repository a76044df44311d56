/// The result of evaluating a server that is trusted.
public struct TrustVerdict: Sendable {
    /// The status in the stapled response.
    public enum Staple: Equatable, Sendable {
        /// The policy does not check stapled responses.
        case unasked
        /// The response was not sent, is malformed, unverified, out of date, or for another certificate. A policy with a soft check accepts
        /// that.
        case unknown
        /// The certificate is good.
        case good
    }

    /// The verified chain: the server's certificate first, the anchor last. Other certificates that the server sent are not in it.
    public let chain: [Certificate]
    /// The pin that the chain contains. `nil` if the policy has no pins, or if the chain contains no pin and the failure is only
    /// reported.
    public let matchedPin: Pin?
    /// The earliest `notAfter` of the chain's certificates.
    public let expires: POSIXTime
    /// Whole days until `expires`, rounded down; negative if the policy allows expired certificates.
    public let daysToExpiry: Int
    /// Faults that the policy allowed.
    public let allowed: Set<TrustFailure.Reason>
    /// The failure of pins that are only reported; `nil` if there was no such failure.
    public let reported: TrustFailure?
    /// Whether there are pins that are only reported, not enforced.
    public let pinsAreOnlyReported: Bool
    /// The status in the stapled response.
    public let staple: Staple
    /// The last second for which the checked revocation lists and the stapled response are valid; `nil` if none was checked, or
    /// if none has an end.
    public let revocationKnownUntil: POSIXTime?
    /// How many signed certificate timestamps the server provided, in any way; `nil` if the policy does not audit them.
    public let signedTimestampCount: Int?
    /// The fingerprint of the policy that applied.
    public let fingerprint: SHA256Digest

    /// Maximum length of a chain: the server's certificate, the intermediates, and the anchor.
    package static let chainLimit = Int(ChainVerification.intermediatesLimit) + 2

    /// Whether the chain ends at an anchor. If not, it ends at another certificate, which the policy allows.
    package var endsAtAnchor: Bool { !allowed.contains(.untrustedRoot) && !allowed.contains(.incompleteChain) }
}
