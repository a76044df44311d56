/// The result of a body check. A trivial type (no reference counts), because an exchange's events contain it. The exchange decides how to
/// handle it.
package enum BodyCheckOutcome: Equatable, Sendable {
    case passed
    case malformedJSON(JSONFault)
    case malformedXML
    case malformedPropertyList
    /// The body is not an image of a known kind, or not of the kind that its media type names.
    case malformedImage
    /// An image whose header states more width, height or pixels than the limit (T35).
    case imageTooLarge
    /// The body matches none of several kinds; the faults of each kind are given.
    case noneAccepts(ValidationFaults)
    /// The body's content coding does not decode: a bad check value, a truncated stream, bytes after the end.
    case malformedCoding
    /// A content coding that Larder cannot decode, or too many nested codings.
    case unsupportedCoding
    /// The body, as received or decoded, is larger than the check's limit; the rule's `oversize` decides whether it passes.
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
        /// A byte that the grammar does not allow here, or any byte after the value.
        case unexpectedByte
        /// The text ends before the value does.
        case unexpectedEnd
        /// The bytes are not UTF-8 (RFC 8259 §8.1).
        case notUTF8
        /// Arrays and objects are nested more deeply than the limit (T35).
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
