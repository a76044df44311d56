/// What the check of a body found: the answer to a command, so it is trivial. The exchange alone decides what follows from it.
package enum BodyCheckOutcome: Equatable, Sendable {
    case passed
    case malformedJSON(JSONFault)
    case malformedXML
    case malformedPropertyList
    /// None of the kinds that are known, or of another one than its media type names.
    case malformedImage
    /// An image that says it is wider, higher or of more pixels than the limit (T35).
    case imageTooLarge
    /// None of several kinds takes it, each for its own fault.
    case noneAccepts(ValidationFaults)
    /// The body's content coding does not decode: a bad check value, a cut stream, bytes after the end.
    case malformedCoding
    /// Encoded in a way that cannot be seen through, or too many codings around each other.
    case unsupportedCoding
    /// As it came or decoded, the body is larger than the bound of the check; whether it passes is the rule's `oversize`.
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

/// The first place at which a text stops being JSON (RFC 8259).
package struct JSONFault: Error, Equatable, Sendable {
    package enum Reason: UInt8, Sendable {
        /// A byte that the grammar does not allow here, or anything after the value.
        case unexpectedByte
        /// The text ends before the value does.
        case unexpectedEnd
        /// The bytes are not UTF-8 (RFC 8259 §8.1).
        case notUTF8
        /// Arrays and objects stand in each other more deeply than the limit allows (T35).
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
    /// Counted in bytes of the decoded body from 0; its length for `unexpectedEnd`.
    package let offset: UInt64

    package init(_ reason: Reason, at offset: UInt64) {
        self.reason = reason
        self.offset = offset
    }
}
