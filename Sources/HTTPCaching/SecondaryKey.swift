import HTTPMessage

/// The values by which rules distinguish the responses under one primary key, besides the fields that the responses nominate (RFC
/// 9111 §4.1).
///
/// The secondary key is part of the canonical form, beside the nominated fields, so each of its values makes a variant. Invalidating the
/// primary key invalidates all variants.
package struct SecondaryKey: Sendable {
    /// The field names in lower case, sorted, without duplicates.
    package private(set) var fieldNames: [[UInt8]]
    /// The digest of the request's content and the fields that describe it; `nil` if the content is not part of the key.
    package var contentDigest: [UInt8]?
    /// The digest of the rules that may map the request to another URI's primary key (`RulesDigest`): responses stored there for other
    /// requests do not match (T20). `nil` if the key is the URI's own.
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

    /// The number of entries that a canonical form must have for this key.
    var count: Int { fieldNames.count + (contentDigest == nil ? 0 : 1) + (rules == nil ? 0 : 1) }

    /// The value that a canonical form must have under `digestName` or `rulesName`; `nil` for any other name, or if no value is required.
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
