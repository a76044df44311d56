/// The result of a body check. The code that handles the exchange decides what follows from it. A trivial type (no reference counts),
/// because an exchange's events contain it.
package enum BodyCheckOutcome: Equatable, Sendable {
    case passed
    case malformedJSON(JSONFault)
    case malformedXML
    case malformedPropertyList
    /// The body is not an image of a known kind, or not of the kind that its media type says.
    case malformedImage
    /// The body is an image whose header states more width, height or pixels than the limit (T35 in docs/threats.md).
    case imageTooLarge
    /// The rule accepts several kinds of content, and the body is of none of them. The faults for each kind are given.
    case noneAccepts(ValidationFaults)
    /// The body cannot be decoded by its content coding, because of a wrong check value, a truncated stream, or bytes after the end.
    case malformedCoding
    /// The body has a content coding that Larder cannot decode, or too many nested codings.
    case unsupportedCoding
    /// The body, as received or as decoded, is larger than the check's limit. The rule's `oversize` decides whether the body passes.
    case tooLarge

    package var code: ValidationFaults.Code? {
        switch self {
        case .passed: nil
        case .malformedJSON: .malformedJSON
        case .malformedXML: .malformedXML
        case .malformedPropertyList: .malformedPropertyList
        case .malformedImage: .malformedImage
        case .imageTooLarge: .imageTooLarge
        case .noneAccepts: .noneAccepts
        case .malformedCoding: .malformedCoding
        case .unsupportedCoding: .unsupportedCoding
        case .tooLarge: .bodyTooLarge
        }
    }
}

/// The first position at which a text is not JSON (RFC 8259).
package struct JSONFault: Error, Equatable, Sendable {
    package enum Reason: UInt8, Sendable {
        /// JSON's grammar does not allow the byte here, or the byte follows the complete value.
        case unexpectedByte
        /// The text ends before the value does.
        case unexpectedEnd
        /// The bytes are not UTF-8 (RFC 8259 §8.1).
        case notUTF8
        /// Arrays and objects are nested more deeply than the limit (T35 in docs/threats.md).
        case tooDeep

        package var word: StaticString {
            switch self {
            case .unexpectedByte: "unexpected_byte"
            case .unexpectedEnd: "unexpected_end"
            case .notUTF8: "not_utf8"
            case .tooDeep: "too_deep"
            }
        }
    }

    package let reason: Reason
    /// The position in the decoded body, in bytes from 0; for `unexpectedEnd`, the body's length.
    package let offset: UInt64

    package init(_ reason: Reason, at offset: UInt64) {
        self.reason = reason
        self.offset = offset
    }
}
