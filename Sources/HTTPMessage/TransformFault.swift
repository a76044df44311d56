/// Why a rule's transform of the content fails. The name is used in errors and logs. The code that handles the exchange decides what
/// follows.
package enum TransformFault: UInt8, Error, Sendable, CaseIterable {
    /// The content cannot be decoded by its content coding.
    case malformedCoding
    /// The content has a content coding that Larder cannot decode.
    case unsupportedCoding
    case malformedJSON, malformedXML, malformedPropertyList
    /// The bytes are not valid text in their charset.
    case malformedText
    case unknownCharset
    /// The text has a character that the target charset lacks.
    case unencodable
    /// The document has no place for the value that `json_pointer` sets.
    case noPlace
    /// The body, as received or decoded, is longer than `max_body`.
    case bodyTooLarge
    /// The result is longer than `max_output`.
    case outputTooLarge
    case tooDeep
    /// The transform took longer than `timeout`.
    case timedOut
    /// The response has status 206 or a Content-Range field, so its content is only part of the representation.
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
