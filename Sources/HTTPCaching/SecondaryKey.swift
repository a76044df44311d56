import HTTPMessage

/// What rules have tell the responses under one primary key apart, besides the fields that these nominate (RFC 9111 §4.1).
///
/// It stands in the canonical form beside the nominated fields, so that each of them is a variant: invalidating the primary key
/// reaches all.
package struct SecondaryKey: Sendable {
    /// In lower case, sorted, each once.
    package private(set) var fieldNames: [[UInt8]]
    /// What the request's content and its description come to; `nil` where the content is no part of the key.
    package var contentDigest: [UInt8]?

    package static let none = SecondaryKey()

    private init() {
        fieldNames = []
    }

    package init(fields: [FieldName]) {
        fieldNames = []
        for field in fields {
            let name = field.bytes.map(ASCII.lowercased)
            if !fieldNames.contains(name) { fieldNames.append(name) }
        }
        fieldNames.sort { $0.lexicographicallyPrecedes($1) }
    }

    package var isEmpty: Bool { fieldNames.isEmpty && contentDigest == nil }

    func contains(_ name: Span<UInt8>) -> Bool {
        for own in fieldNames where own.span.equalsIgnoringCase(name) { return true }
        return false
    }

    /// The name under which the digest stands in a canonical form; no field has it, since it is no token.
    static let digestName: StaticString = ":content"
}
