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
        if text == "application/json" || text.hasSuffix("+json") || text == "application/graphql-response+json" {
            self = .json
        } else if Self.typesOfJSONTexts.contains(text) {
            self = .jsonTexts
        } else if text == "application/x-www-form-urlencoded" {
            self = .form
        } else if text.hasSuffix("/xml") || text.hasSuffix("+xml") || text == "text/html" {
            self = .xml
        } else if text.hasPrefix("multipart/"), let boundary = Self.boundary(in: value) {
            self = .multipart(boundary)
        } else if text == "application/octet-stream" || text.hasPrefix("text/") && text != "text/javascript" && text != "text/css"
        {
            self = .text
        } else {
            self = .other
        }
    }

    /// Whether a body of this kind must be searched for secrets, and is refused by default if it cannot be searched.
    package var isReadForSecrets: Bool { self == .json || self == .form }

    private static let typesOfJSONTexts: Set<String> = [
        "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq", "application/json-lines",
        "text/event-stream", "text/json",
    ]

    private static func boundary(in value: [UInt8]) -> [UInt8]? {
        for parameter in value.split(separator: ASCII.semicolon).dropFirst() {
            let parts = parameter.split(separator: ASCII.equals, maxSplits: 1)
            guard parts.count == 2 else { continue }
            let name = parts[0].filter { !ASCII.isBlank($0) }.map(ASCII.lowercased)
            let boundary = parts[1].filter { $0 != ASCII.quote && !ASCII.isBlank($0) }
            if name == Array("boundary".utf8), !boundary.isEmpty { return Array(boundary) }
        }
        return nil
    }
}
