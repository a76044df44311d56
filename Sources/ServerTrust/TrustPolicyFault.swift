/// Why a policy cannot be: said when it is made, so that none is found wanting when a server is judged.
public enum TrustPolicyFault: Error, Equatable, Sendable {
    case emptyPins
    /// Certificates are pinned, or anchors are the pins, and the pin of this place is only a key's digest.
    case pinWithoutCertificate(index: Int)
    /// The pins are to be the anchors, and there are none.
    case anchorsWithoutPins
    case emptyAnchors
    case unreadableAnchors
    case unreadableRevocationList
    /// Certificates that nobody vouches for need pins that bind at every time: without them anybody could be the host.
    case untrustedRootWithoutBindingPins
    /// Pins that are the anchors cannot be merely reported on.
    case anchorsWithoutBindingPins
    /// A key of this size protects nothing: RSA below 1024 bits, an elliptic curve below 160.
    case keySizeBelowFloor
    /// Lists are to be looked at, and none is given.
    case revocationWithoutLists
    /// A host that is neither a name, `*.` and a name, nor an address.
    case malformedHost(String)
    /// Two policies for one host and port.
    case repeatedHost(String)
}
