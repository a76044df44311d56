import SecretScanning

/// The limits of a snapshot. A file that exceeds one is refused, whatever its source (T46).
package enum SnapshotLimits {
    /// Recordings in one file. Their keys are in memory while it is open, 24 bytes each.
    package static let recordings = 4 << 20
    /// Bytes of one recording's row: two heads and their metadata.
    package static let recordLength = 2 << 20
    /// Field lines of one head.
    package static let fieldLines = 1024
    /// 103 responses kept of one exchange. `ParseLimits.informationalResponseCount` accepts no more by default.
    package static let earlyHints = 8
    /// Bytes of the fields of all 103 responses together.
    package static let earlyHintsLength = 32 << 10
    /// Bytes of the manifest.
    package static let manifestLength = 1 << 20
    /// Bytes of a request body that are kept. A longer body cannot be searched for secrets: only its digest is kept.
    package static let requestBodyLength = DecodedBody.lengthLimit
    /// Bytes of one response's body.
    package static let bodyLength: UInt64 = 64 << 30
    /// Bytes of a piece of a body: the unit of reading, verifying and delivering.
    package static let chunkLength = 256 << 10
    /// Generations in one file.
    package static let generations = 4096
    /// Bytes of one certificate chain's record.
    package static let chainLength = 64 << 10
    /// Signatures of one file.
    package static let signatures = 64
}
