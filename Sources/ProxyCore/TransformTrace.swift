import HTTPMessage
import ProxyPolicy

/// The result of a transform that rules require. A trivial type.
package enum TransformTrace: Equatable, Sendable {
    case made(TransformPlan.Source)
    case skipped(TransformSkip)
    /// The client gets an error or, if the rule allows it, the original content.
    case failed(TransformFault)

    /// The word for the result in the log and in the field `Larder-Transform`.
    package var word: StaticString {
        switch self {
        case .made: "applied"
        case .skipped: "skipped"
        case .failed: "failed"
        }
    }

    /// Why the content was not transformed; `nil` if it was.
    package var reason: StaticString? {
        switch self {
        case .made: nil
        case .skipped(let skip): skip.word
        case .failed(let fault): fault.word
        }
    }
}

/// Why content was not transformed although a rule requires it.
package enum TransformSkip: UInt8, Sendable {
    /// The response says no-transform (RFC 9110 §7.7, RFC 9111 §5.2.2.6).
    case noTransform
    /// The request says no-transform (RFC 9111 §5.2.1.6).
    case requestNoTransform
    /// The rule does not apply to the type of the content.
    case contentType

    package var word: StaticString {
        switch self {
        case .noTransform: "no_transform"
        case .requestNoTransform: "request_no_transform"
        case .contentType: "content_type"
        }
    }
}

extension Fields {
    /// Whether Cache-Control, or a targeted field that replaces it for some caches (RFC 9213), says no-transform.
    var forbidTransforming: Bool {
        for line in lines {
            let name = name(of: line)
            guard name.count >= Self.cacheControl.count,
                name.extracting(name.count - Self.cacheControl.count..<name.count).equalsIgnoringCase(Self.cacheControl.span)
            else { continue }
            let value = value(of: line)
            var elements = ListElements()
            while let element = elements.next(in: value) {
                if value.extracting(element).equalsIgnoringCase("no-transform") { return true }
            }
        }
        return false
    }

    private static let cacheControl = Array("cache-control".utf8)
}
