import HTTPSerialization
import ServerTrust

/// The digests of a body's pieces, so that each piece can be verified alone. A piece has `SnapshotLimits.chunkLength` bytes; the last
/// may be shorter.
///
/// The recording's row has a combined digest. For a single piece, it is the digest of the piece; otherwise it is SHA-256 of the byte
/// 0x02 and the concatenated digests.
enum ChunkDigests {
    /// - Parameter digests: the concatenated digests of one or more pieces.
    static func combined(_ digests: [UInt8]) -> SHA256Digest {
        // Both values have the 32 bytes of a SHA-256 digest.
        SHA256Digest(digests.count == 32 ? digests : Hashing.sha256([0x02], digests))!
    }

    static func count(ofLength length: UInt64) -> Int {
        Int((length + UInt64(SnapshotLimits.chunkLength) - 1) / UInt64(SnapshotLimits.chunkLength))
    }
}
