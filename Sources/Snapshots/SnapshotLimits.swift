import SecretScanning

/// The limits of a snapshot. A file that exceeds a limit is refused, whatever its source (T46 in docs/threats.md).
package enum SnapshotLimits {
    /// Maximum number of recordings in one file. While the file is open, each recording's key takes 24 bytes of memory.
    package static let recordings = 4 << 20
    /// Maximum length of one recording's row, in bytes. A row has two heads and their metadata.
    package static let recordLength = 2 << 20
    /// Maximum number of field lines in one head.
    package static let fieldLines = 1024
    /// Maximum number of 103 (Early Hints) responses kept for one exchange. By default `ParseLimits.informationalResponseCount` accepts
    /// no more either.
    package static let earlyHints = 8
    /// Maximum length of the fields of all 103 (Early Hints) responses of an exchange together, in bytes.
    package static let earlyHintsLength = 32 << 10
    /// Maximum length of the manifest, in bytes.
    package static let manifestLength = 1 << 20
    /// Maximum length of a request body that is kept, in bytes. A longer body cannot be searched for secrets: only its digest is
    /// kept.
    package static let requestBodyLength = DecodedBody.lengthLimit
    /// Maximum length of one response's body, in bytes.
    package static let bodyLength: UInt64 = 64 << 30
    /// Length of a piece of a body, in bytes. Bodies are read, verified and delivered piece by piece.
    package static let chunkLength = 256 << 10
    /// Maximum number of generations in one file.
    package static let generations = 4096
    /// Maximum length of one certificate chain's record, in bytes.
    package static let chainLength = 64 << 10
    /// Maximum number of signatures in one file.
    package static let signatures = 64
}
