/// A recording as stored in its row (docs/snapshot-format.md). These bytes are sorted, hashed into the Merkle root `full`, and signed.
///
/// A head of fixed length is followed by parts in the order of their tags. Each part has a tag (1 byte), a length (4 bytes) and that
/// many bytes. Numbers are big-endian, so sorting rows by their bytes sorts them by their numbers. Each recording has one encoding: a
/// decoded row encodes to the same bytes.
enum RecordingRow {
    static let version: UInt8 = 1
    /// The version, primary key, key, digest of secrets, generation and position.
    static let headCount = 1 + 16 + 32 + 32 + 4 + 4
    static let keyRange = 17..<49
    static let secretsRange = 49..<81
    static let generationRange = 81..<85
    static let positionRange = 85..<89
    static let primaryRange = 1..<17
    static let bodyCount = 32 + 8 + 32 + 1
    static let unknownPhase: Int64 = -1

    enum Part: UInt8 {
        case method = 1, uri, requestField, requestBody, protocolName
        case status, reason, responseField, trailer, responseBody
        case failure, times, chain, marks, earlyHints

        var mayRepeat: Bool { self == .requestField || self == .responseField || self == .trailer }
    }

    static let redactedMark: UInt8 = 1
    /// This mark means that a part with early hints follows the part with the marks. Without this mark, the part with the marks is the
    /// last part of the row. So a row from which the early hints were cut off is invalid.
    static let earlyHintsMark: UInt8 = 2
}
