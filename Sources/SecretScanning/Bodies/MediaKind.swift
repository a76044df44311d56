import HTTPMessage

/// The kind of a body, for matching and for the search for secrets.
package enum MediaKind: Equatable, Sendable {
    case json
    /// Several JSON texts: JSON lines, JSON text sequences and event streams.
    case jsonTexts
    case form
    /// XML or HTML.
    case xml
    /// A multipart body, with its boundary.
    case multipart([UInt8])
    case yaml
    /// Lines of assignments: shell scripts, environment files, property lists, INI and TOML.
    case assignments
    /// Text in which names stand before quoted values: GraphQL and JSON5.
    case literals
    /// JavaScript. Most of its quoted values are texts for users or names, not data.
    case script
    /// Text or bytes of unknown format.
    case text
    case other

    package init(of fields: Fields) {
        guard let line = fields.first(.contentType) else {
            self = .text
            return
        }
        let value = Array(fields.bytes[line.value.range])
        let type = value.prefix { $0 != ASCII.semicolon && !ASCII.isBlank($0) }.map(ASCII.lowercased)
        let text = String(decoding: type, as: UTF8.self)
        if let kind = Self.kinds[text] {
            self = kind
        } else if text.hasSuffix("+json") {
            self = .json
        } else if text.hasSuffix("/xml") || text.hasSuffix("+xml") {
            self = .xml
        } else if text.hasSuffix("+yaml") {
            self = .yaml
        } else if text.hasPrefix("multipart/"), let boundary = LenientParameters.value(of: "boundary", in: value),
            !boundary.isEmpty
        {
            self = .multipart(boundary)
        } else if text.hasPrefix("text/"), text != "text/css" {
            self = .text
        } else {
            self = .other
        }
    }

    /// Whether a body of this kind must be searched for secrets, and is refused by default if it cannot be searched.
    package var isReadForSecrets: Bool { self == .json || self == .form }

    private static let kinds: [String: MediaKind] = {
        var kinds: [String: MediaKind] = [
            "application/json": .json, "application/x-www-form-urlencoded": .form, "text/html": .xml,
            "application/octet-stream": .text,
        ]
        func add(_ kind: MediaKind, _ types: String...) { for type in types { kinds[type] = kind } }
        add(
            .jsonTexts, "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq",
            "application/json-lines", "text/event-stream", "text/json")
        add(.yaml, "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/vnd.yaml")
        add(
            .assignments, "application/x-sh", "text/x-sh", "text/x-shellscript", "application/x-shellscript", "application/x-env",
            "text/x-env", "application/x-dotenv", "text/x-dotenv", "text/x-properties", "text/x-java-properties", "text/x-ini",
            "application/toml", "text/x-toml")
        add(.literals, "application/graphql", "application/json5", "text/json5")
        add(
            .script, "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript",
            "application/ecmascript")
        return kinds
    }()
}
