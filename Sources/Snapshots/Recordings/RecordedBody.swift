import ServerTrust

/// The body of a message, identified by its digest. Bodies with the same digest are stored in the file once.
package struct RecordedBody: Hashable, Sendable {
    /// SHA-256 of the bytes as received, with their content codings.
    package let digest: SHA256Digest
    /// The length in bytes.
    package let length: UInt64
    /// The combined digest of the body's pieces (`ChunkDigests`), by which each piece is verified before it is delivered.
    package let pieces: SHA256Digest
    /// Whether the file has the bytes of the body; if not, it has only their digest.
    package let isKept: Bool

    package init(digest: SHA256Digest, length: UInt64, pieces: SHA256Digest, isKept: Bool) {
        self.digest = digest
        self.length = length
        self.pieces = pieces
        self.isKept = isKept
    }
}
