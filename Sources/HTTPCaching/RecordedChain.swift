/// The certificate chain and other data that a server presented in the TLS handshake, serialized by the code that verified the chain.
/// This module does not read the data. Larder can use the data later to verify the chain under another trust policy, when it cannot
/// contact the server.
///
/// Many responses share one chain, so each response has a reference to it.
package final class RecordedChain: Sendable {
    /// The maximum size in bytes; a larger chain is not kept. A usual chain has 3 to 6 KiB.
    package static let octetLimit = 64 << 10

    package let octets: [UInt8]
    /// SHA-256 of the bytes, to recognize equal chains.
    package let digest: [UInt8]

    /// - Returns: `nil` if there are no bytes, or more than `octetLimit`.
    package init?(_ octets: [UInt8]) {
        guard !octets.isEmpty, octets.count <= Self.octetLimit else { return nil }
        self.octets = octets
        var digest = SHA256()
        digest.update(octets.span)
        self.digest = digest.finalized()
    }
}
