/// Why a policy is invalid. Thrown when it is created, so that no evaluation finds an invalid policy.
public enum TrustPolicyFault: Error, Equatable, Sendable {
    case emptyPins
    /// The pin at this index has only a key's digest, but certificates are pinned, or the pins are the anchors.
    case pinWithoutCertificate(index: Int)
    /// The pins are the anchors, but there are no pins.
    case anchorsWithoutPins
    case emptyAnchors
    case unreadableAnchors
    case unreadableRevocationList
    /// Accepting an untrusted root requires pins that are enforced at every time: without such pins, any server could pose as the host.
    case untrustedRootWithoutBindingPins
    /// The pins are the anchors, and therefore cannot be report-only.
    case anchorsWithoutBindingPins
    /// Keys of this size give no protection: RSA below 1024 bits, an elliptic curve below 160.
    case keySizeBelowFloor
    /// The policy checks revocation lists, but contains none.
    case revocationWithoutLists
    /// The host is neither a name, `*.` and a name, nor an IP address.
    case malformedHost(String)
    /// The set has two policies for the same host and port.
    case repeatedHost(String)
}
