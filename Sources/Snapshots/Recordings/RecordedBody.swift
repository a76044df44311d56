import ServerTrust

/// Which bytes a message had as its body: by what they come to, so that equal ones stand in the file once.
package struct RecordedBody: Hashable, Sendable {
    /// SHA-256 of the bytes as they came, content codings and all.
    package let digest: SHA256Digest
    /// In bytes.
    package let length: UInt64
    /// What the digests of its pieces come to (`ChunkDigests`): by them a piece is checked before it is delivered.
    package let pieces: SHA256Digest
    /// Whether the bytes stand in the file, and not only their digest.
    package let isKept: Bool

    package init(digest: SHA256Digest, length: UInt64, pieces: SHA256Digest, isKept: Bool) {
        self.digest = digest
        self.length = length
        self.pieces = pieces
        self.isKept = isKept
    }
}
