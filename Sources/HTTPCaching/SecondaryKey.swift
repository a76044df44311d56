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
    /// The rules by which the primary key may stand for another URI than the request's (`RulesDigest`): what others have brought under it
    /// is no answer (T20). `nil` where it is the URI's own.
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

    /// Of how many things a canonical form has to tell.
    var count: Int { fieldNames.count + (contentDigest == nil ? 0 : 1) + (rules == nil ? 0 : 1) }

    /// What has to stand in a canonical form under a name that no field has; `nil` for any other name, and where nothing has to.
    func octets(under name: Span<UInt8>) -> [UInt8]? {
        guard !name.isEmpty, name[0] == ASCII.colon else { return nil }
        if name.equals(Self.digestName) { return contentDigest }
        return name.equals(Self.rulesName) ? rules : nil
    }

    func contains(_ name: Span<UInt8>) -> Bool {
        for own in fieldNames where own.span.equalsIgnoringCase(name) { return true }
        return false
    }

    /// The names under which these stand in a canonical form; no field has one of them, since they are no tokens.
    static let digestName: StaticString = ":content"
    static let rulesName: StaticString = ":rules"
}
