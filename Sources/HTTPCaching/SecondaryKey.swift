import HTTPMessage

/// The values by which rules distinguish the responses under one primary key, in addition to the fields that the responses nominate in
/// Vary (RFC 9111 §4.1).
///
/// The canonical form of a stored response contains the secondary key together with the nominated fields. Each value of the
/// secondary key therefore makes a variant. Invalidating the primary key invalidates all variants.
package struct SecondaryKey: Sendable {
    /// The field names in lower case, sorted, without duplicates.
    package private(set) var fieldNames: [[UInt8]]
    /// The digest of the request's content and the fields that describe it; `nil` if the content is not part of the key.
    package var contentDigest: [UInt8]?
    /// The digest of the rules that may map the request to the primary key of another URI (`RulesDigest`). Responses that are stored
    /// under that key for other requests do not match (T20 in docs/threats.md). `nil` if no rule changes the key.
    package var rules: [UInt8]?

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

    package var isEmpty: Bool { fieldNames.isEmpty && contentDigest == nil && rules == nil }

    /// The number of entries that a canonical form must have to match this secondary key.
    var count: Int { fieldNames.count + (contentDigest == nil ? 0 : 1) + (rules == nil ? 0 : 1) }

    /// The value that a canonical form must have under the name `digestName` or `rulesName`; `nil` for any other name, or if no value
    /// is required.
    func octets(under name: Span<UInt8>) -> [UInt8]? {
        guard !name.isEmpty, name[0] == ASCII.colon else { return nil }
        if name.equals(Self.digestName) { return contentDigest }
        return name.equals(Self.rulesName) ? rules : nil
    }

    func contains(_ name: Span<UInt8>) -> Bool {
        for own in fieldNames where own.span.equalsIgnoringCase(name) { return true }
        return false
    }

    /// The names of the two digests in a canonical form. No field can have these names, because they are not tokens.
    static let digestName: StaticString = ":content"
    static let rulesName: StaticString = ":rules"
}
