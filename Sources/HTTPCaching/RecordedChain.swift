/// What a server showed of itself in the handshake behind which a response came, as whoever judged it has written it down. Nobody
/// here reads it: another trust policy can judge it later, where the server itself cannot be asked.
///
/// Many responses share one: each holds a reference.
package final class RecordedChain: Sendable {
    /// Longer ones are not kept: a usual chain has 3 to 6 KiB.
    package static let octetLimit = 64 << 10

    package let octets: [UInt8]
    /// SHA-256 of the bytes, by which equal ones are known.
    package let digest: [UInt8]

    /// - Returns: `nil` for nothing, and for more than `octetLimit`.
    package init?(_ octets: [UInt8]) {
        guard !octets.isEmpty, octets.count <= Self.octetLimit else { return nil }
        self.octets = octets
        var digest = SHA256()
        digest.update(octets.span)
        self.digest = digest.finalized()
    }
}
