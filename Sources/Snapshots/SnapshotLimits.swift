import SecretScanning

/// How much of anything a snapshot may hold. A file that goes past one of them is refused, whoever wrote it (T46).
package enum SnapshotLimits {
    /// Recordings in one file. The keys of all of them stand in memory while it is open, 24 bytes for each.
    package static let recordings = 4 << 20
    /// Bytes of one recording's row: two heads and what stands beside them.
    package static let recordLength = 2 << 20
    /// Field lines of one head.
    package static let fieldLines = 1024
    /// Responses with the status 103 that are kept of one exchange. `ParseLimits.informationalResponseCount` lets no more through by default.
    package static let earlyHints = 8
    /// Bytes of the fields of all of them.
    package static let earlyHintsLength = 32 << 10
    /// Bytes of the manifest.
    package static let manifestLength = 1 << 20
    /// Bytes of a request's body that are kept; of a longer one, which cannot be searched for secrets, the digest.
    package static let requestBodyLength = DecodedBody.lengthLimit
    /// Bytes of one response's body.
    package static let bodyLength: UInt64 = 64 << 30
    /// Bytes of a piece of a body: what is read, checked and delivered at once.
    package static let chunkLength = 256 << 10
    /// How often the recordings of a file have been made again.
    package static let generations = 4096
    /// Bytes of one certificate chain's record.
    package static let chainLength = 64 << 10
    /// Signatures of one file.
    package static let signatures = 64
}
