/// The faults found by the validation of one response, in order from outermost to innermost. A trivial type (no reference counts).
///
/// A fault of the body is outermost. Then follow an unacceptable status and an unacceptable media type. A body whose media type is
/// unacceptable is not parsed.
package struct ValidationFaults: Equatable, Sendable {
    /// One fault. The names are used in machine-readable errors and logs; the raw values give the order from outermost to innermost.
    package enum Code: UInt8, CaseIterable, Sendable {
        /// The rule accepts several kinds of content, and the body is of none of them. The faults for each kind follow.
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
    /// The offset of the first fault of `malformedJSON` in the decoded body, in bytes from 0. Other faults have none.
    package private(set) var bodyOffset: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { bits == 0 }
    package var count: Int { bits.nonzeroBitCount }
    /// The fault after which the error in Larder's response is named.
    package var outermost: Code? { bits == 0 ? nil : Code(rawValue: UInt8(bits.trailingZeroBitCount)) }

    package func contains(_ code: Code) -> Bool { bits >> code.rawValue & 1 == 1 }

    package mutating func insert(_ code: Code) { bits |= 1 << code.rawValue }

    /// Adds the result of the body check. The result `passed` adds nothing.
    package mutating func insert(_ outcome: BodyCheckOutcome) {
        guard let code = outcome.code else { return }
        insert(code)
        switch outcome {
        case .malformedJSON(let fault): bodyOffset = fault.offset
        case .noneAccepts(let faults): bits |= faults.bits
        default: break
        }
    }

    /// The maximum length of a field line that lists all faults, in bytes.
    package static let lineLimit = 256

    /// Calls `body` with each fault, in order from outermost to innermost.
    package func forEach(_ body: (Code) -> Void) {
        for code in Code.allCases where contains(code) { body(code) }
    }
}
