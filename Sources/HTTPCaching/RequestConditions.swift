import HTTPMessage

/// The names of the fields that make a request conditional or a range request (RFC 9110 §13.1, §14.2), without their values. A trivial
/// type (no reference counts).
package struct RequestConditions: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The empty set. Code in another module that wrote `[]` instead would cost every request a thousand instructions.
    package init() { rawValue = 0 }

    package static let ifMatch = RequestConditions(rawValue: 1 << 0)
    package static let ifUnmodifiedSince = RequestConditions(rawValue: 1 << 1)
    package static let ifNoneMatch = RequestConditions(rawValue: 1 << 2)
    package static let ifModifiedSince = RequestConditions(rawValue: 1 << 3)
    package static let range = RequestConditions(rawValue: 1 << 4)
    package static let ifRange = RequestConditions(rawValue: 1 << 5)

    /// The conditions of a request.
    package init(in fields: borrowing Fields) {
        self.init()
        guard fields.present & Self.allFields != 0 else { return }
        for (condition, field, _) in Self.all where fields.contains(field) { insert(condition) }
    }

    /// The conditions that Larder sends to validate a stored response (`Validation.addPreconditions`).
    package init(validating stored: StoredResponse) {
        self.init()
        if !stored.facts.flags.isDisjoint(with: [.strongETag, .weakETag]) { insert(.ifNoneMatch) }
        if stored.facts.flags.contains(.lastModified) { insert(.ifModifiedSince) }
    }

    /// The conditions in the order in which they are evaluated (RFC 9110 §13.2.2).
    package var names: [String] { Self.all.compactMap { contains($0.condition) ? $0.name : nil } }

    private static let all: [(condition: RequestConditions, field: KnownField, name: String)] = [
        (.ifMatch, .ifMatch, "If-Match"), (.ifUnmodifiedSince, .ifUnmodifiedSince, "If-Unmodified-Since"),
        (.ifNoneMatch, .ifNoneMatch, "If-None-Match"), (.ifModifiedSince, .ifModifiedSince, "If-Modified-Since"),
        (.range, .range, "Range"), (.ifRange, .ifRange, "If-Range"),
    ]

    private static let allFields: UInt64 =
        KnownField.ifMatch.bit | KnownField.ifUnmodifiedSince.bit | KnownField.ifNoneMatch.bit | KnownField.ifModifiedSince.bit
        | KnownField.range.bit | KnownField.ifRange.bit
}
