/// A recording as it stands in its row (docs/snapshot-format.md): what is ordered, hashed into the root `full`, and signed.
///
/// Behind a head of fixed length come parts: a tag (1 byte), a count (4) and so many bytes, in the order of their tags. Numbers have their
/// greatest byte first, so that the order of rows is the order of their bytes. There is one way to write a recording: what decodes
/// encodes to the same bytes.
enum RecordingRow {
    static let version: UInt8 = 1
    /// Version, primary key, key, secrets, generation, position.
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
    /// Another part is behind the marks, which are the last of other rows: a row that is cut is none.
    static let earlyHintsMark: UInt8 = 2
}
