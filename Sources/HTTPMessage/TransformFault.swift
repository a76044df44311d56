/// Why content cannot be made into what a rule wants: a word of errors and logs. The exchange alone decides what follows from it.
package enum TransformFault: UInt8, Error, Sendable, CaseIterable {
    /// Its content coding does not decode.
    case malformedCoding
    /// Encoded in a way that cannot be seen through.
    case unsupportedCoding
    case malformedJSON, malformedXML, malformedPropertyList
    /// The bytes are no text of their charset.
    case malformedText
    case unknownCharset
    /// A character that the wanted charset does not have.
    case unencodable
    /// There is nowhere to put what `json_pointer` sets.
    case noPlace
    /// As it came or decoded, it is longer than `max_body`.
    case bodyTooLarge
    /// What was made is longer than `max_output`.
    case outputTooLarge
    case tooDeep
    /// It was not done within `timeout`.
    case timedOut
    /// Bytes of a representation that nobody has asked to be cut.
    case partialContent

    package var word: StaticString {
        switch self {
        case .malformedCoding: "malformed_coding"
        case .unsupportedCoding: "unsupported_coding"
        case .malformedJSON: "malformed_json"
        case .malformedXML: "malformed_xml"
        case .malformedPropertyList: "malformed_plist"
        case .malformedText: "malformed_text"
        case .unknownCharset: "unknown_charset"
        case .unencodable: "unencodable"
        case .noPlace: "no_place"
        case .bodyTooLarge: "body_too_large"
        case .outputTooLarge: "output_too_large"
        case .tooDeep: "too_deep"
        case .timedOut: "timed_out"
        case .partialContent: "partial_content"
        }
    }
}
