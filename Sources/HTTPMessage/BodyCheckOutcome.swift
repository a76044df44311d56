/// The result of a body check. Trivial, because it is part of a command's response. The exchange decides how to handle it.
package enum BodyCheckOutcome: Equatable, Sendable {
    case passed
    case malformedJSON(JSONFault)
    case malformedXML
    case malformedPropertyList
    /// Not an image of a known kind, or not the kind that its media type names.
    case malformedImage
    /// An image whose header states more width, height or pixels than the limit (T35).
    case imageTooLarge
    /// The body matches none of several kinds; the faults are those of each kind.
    case noneAccepts(ValidationFaults)
    /// The body's content coding does not decode: a bad check value, a cut stream, bytes after the end.
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
    /// In bytes of the decoded body, from 0; the body's length for `unexpectedEnd`.
    package let offset: UInt64

    package init(_ reason: Reason, at offset: UInt64) {
        self.reason = reason
        self.offset = offset
    }
}
