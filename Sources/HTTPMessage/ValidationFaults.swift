/// What validation found wrong with one response: trivial, and listed from the outermost fault to the innermost.
///
/// A body that does not parse stands outside a status that is not accepted, which stands outside a media type that is
/// not accepted; a body of an unaccepted media type is not parsed at all.
package struct ValidationFaults: Equatable, Sendable {
    /// The words of machine-readable errors and logs. Their raw values order them from outer to inner.
    package enum Code: UInt8, CaseIterable, Sendable {
        /// None of several kinds; what each of them found follows.
        case noneAccepts
        case malformedJSON, malformedXML, malformedPropertyList, malformedImage, imageTooLarge
        case malformedCoding, unsupportedCoding, bodyTooLarge
        case unacceptableStatus, unacceptableContentType

        package var word: StaticString {
            switch self {
            case .noneAccepts: "none_accepts"
            case .malformedJSON: "malformed_json"
            case .malformedXML: "malformed_xml"
            case .malformedPropertyList: "malformed_plist"
            case .malformedImage: "malformed_image"
            case .imageTooLarge: "image_too_large"
            case .malformedCoding: "malformed_coding"
            case .unsupportedCoding: "unsupported_coding"
            case .bodyTooLarge: "body_too_large"
            case .unacceptableStatus: "unacceptable_status"
            case .unacceptableContentType: "unacceptable_content_type"
            }
        }
    }

    private var bits: UInt16 = 0
    /// Where in the decoded body the first fault of `malformedJSON` alone stands, counted in bytes from 0.
    package private(set) var bodyOffset: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { bits == 0 }
    package var count: Int { bits.nonzeroBitCount }
    /// The fault that names the whole in an answer of ours.
    package var outermost: Code? { bits == 0 ? nil : Code(rawValue: UInt8(bits.trailingZeroBitCount)) }

    package func contains(_ code: Code) -> Bool { bits >> code.rawValue & 1 == 1 }

    package mutating func insert(_ code: Code) { bits |= 1 << code.rawValue }

    /// Adds what the check of the body found; `passed` adds nothing.
    package mutating func insert(_ outcome: BodyCheckOutcome) {
        guard let code = outcome.code else { return }
        insert(code)
        switch outcome {
        case .malformedJSON(let fault): bodyOffset = fault.offset
        case .noneAccepts(let faults): bits |= faults.bits
        default: break
        }
    }

    /// A field line that names all of them is no longer.
    package static let lineLimit = 256

    /// From the outermost to the innermost.
    package func forEach(_ body: (Code) -> Void) {
        for code in Code.allCases where contains(code) { body(code) }
    }
}
