import HTTPCaching
import HTTPMessage
import HTTPSerialization

/// A request's body on its way into canonical form: out of its codings, without what says nothing.
///
/// What cannot be read as its media type says stays as it came, so that it is compared octet by octet.
struct CanonicalBody {
    private(set) var text: [UInt8]
    private let mediaType: MediaKind
    private let secretPointers: [JSONPointer]

    init(_ octets: [UInt8], describedBy fields: Fields, _ terms: MatchTerms) {
        mediaType = MediaKind(of: fields)
        secretPointers = terms.secrets.pointers
        text = DecodedBody.decoded(octets, describedBy: fields) ?? octets
        if case .multipart(let boundary) = mediaType { text = Self.withoutBoundary(text, boundary) }
    }

    mutating func apply(_ rules: [CanonicalRule]) {
        if mediaType == .json { removeValues(rules.flatMap { $0.canonicaliser.ignoredPointers }) }
        for rule in rules where rule.changesBodies {
            if mediaType == .form, !rule.formNames.isEmpty { removeFields(rule) }
            text = rule.canonicalText(text, .body)
        }
    }

    func secrets(_ finder: SecretFinder) -> [FoundSecret] {
        // Its boundary is out of it.
        if case .multipart = mediaType { return finder.secrets(inBody: text, .multipart(Self.boundaryMark)) }
        return finder.secrets(inBody: text, mediaType)
    }

    private static let boundaryMark = Array("{boundary}".utf8)

    /// Values at named places go, and those that are named as secrets become the mark of one. The text is written anew, without blanks.
    private mutating func removeValues(_ ignored: [JSONPointer]) {
        guard !ignored.isEmpty || !secretPointers.isEmpty else { return }
        // What is no JSON is compared as it is.
        guard var value = try? JSONValue(parsing: text, options: JSONParseOptions(lengthLimit: SnapshotLimits.requestBodyLength))
        else { return }
        for pointer in ignored { _ = value.remove(at: pointer) }
        for pointer in secretPointers where value[pointer] != nil {
            _ = value.set(.string(String(decoding: SecretMark.canonical, as: UTF8.self)), at: pointer)
        }
        text = value.text()
    }

    private mutating func removeFields(_ rule: CanonicalRule) {
        let kept = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).filter { field in
            let name = field.prefix { $0 != ASCII.equals }
            return !rule.formNames.contains { $0.isPrefix ? name.starts(with: $0.name) : name.elementsEqual($0.name) }
        }
        text = Array(kept.joined(separator: [UInt8(ascii: "&")]))
    }

    /// A boundary (RFC 2046 §5.1.1) is made anew for each request.
    private static func withoutBoundary(_ text: [UInt8], _ boundary: [UInt8]) -> [UInt8] {
        let delimiter = Array("--".utf8) + boundary
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        text.withUnsafeBufferPointer { octets in
            var place = 0
            while place < octets.count {
                if octets[place] == delimiter[0], octets.holds(delimiter, at: place) {
                    result += Array("--".utf8) + boundaryMark
                    place += delimiter.count
                } else {
                    result.append(octets[place])
                    place += 1
                }
            }
        }
        return result
    }
}

/// What a body is, as far as matching and the search for secrets read it.
enum MediaKind: Equatable {
    case json
    /// Several JSON texts: lines, sequences and event streams.
    case jsonTexts
    case form
    /// HTML too.
    case xml
    /// With its boundary.
    case multipart([UInt8])
    /// Text, or bytes, of which nothing more is said.
    case text
    case other

    init(of fields: Fields) {
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

    /// Whether it is searched for secrets before anything else is, and refused where it cannot be.
    var isReadForSecrets: Bool { self == .json || self == .form }

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

/// Bodies out of their content codings.
enum DecodedBody {
    /// - Returns: `nil` where there is a coding that is not known, that is malformed, or that more comes out of than the limit.
    static func decoded(
        _ octets: [UInt8], describedBy fields: Fields, lengthLimit: UInt64 = UInt64(SnapshotLimits.requestBodyLength)
    ) -> [UInt8]? {
        let codings = fields.lines.filter { $0.known == .contentEncoding }.map { fields.text(of: $0.value) }
        if codings.isEmpty { return octets }
        let limits = CodingLimits(length: lengthLimit)
        // Why it does not come out makes no difference to who asks.
        return try? ContentDecoder.decoded(octets, contentEncoding: codings, limits: limits)
    }

    /// Whether a JSON text is in UTF-16 or UTF-32: its first character is ASCII, so that one of its first two bytes is NUL, or it has a mark.
    static func isUTF16OrUTF32(_ text: [UInt8]) -> Bool {
        guard text.count >= 2 else { return false }
        return text[0] == 0 || text[1] == 0 || text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE])
    }
}
