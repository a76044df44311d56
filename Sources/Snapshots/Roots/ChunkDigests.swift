import HTTPSerialization
import ServerTrust

/// The digests of a body's pieces (`SnapshotLimits.chunkLength` bytes each, the last one shorter), so that each is checked by itself.
///
/// They come to one digest, which the recording's row names: that of the only piece, else SHA-256 of 0x02 and the digests one behind the other.
enum ChunkDigests {
    /// - Parameter digests: of at least one piece, one behind the other.
    static func combined(_ digests: [UInt8]) -> SHA256Digest {
        // 32 bytes either way.
        SHA256Digest(digests.count == 32 ? digests : Hashing.sha256([0x02], digests))!
    }

    static func count(ofLength length: UInt64) -> Int {
        Int((length + UInt64(SnapshotLimits.chunkLength) - 1) / UInt64(SnapshotLimits.chunkLength))
    }
}
