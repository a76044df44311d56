import HTTPMessage
import HTTPSerialization
import ServerTrust

/// Puts placeholders in the place of secrets before anything of an exchange is written.
package struct Redactor: Sendable {
    /// What becomes of a body that cannot be searched: longer than 8 MiB, or in a coding that does not come off.
    package enum Unscanned: String, Sendable, CaseIterable {
        /// The exchange is not recorded.
        case refuse
        case keep
    }

    private let key: ProjectKey
    private let pointers: [JSONPointer]
    /// `nil`: JSON and forms are refused, others kept.
    private let unscanned: Unscanned?

    package init(key: ProjectKey, terms: MatchTerms, unscanned: Unscanned? = nil) {
        self.key = key
        pointers = terms.secretPointers
        self.unscanned = unscanned
    }

    /// A text such as a URI, with placeholders.
    package func redacted(_ text: [UInt8]) -> [UInt8] { replaced(text, SecretScan.secrets(in: text)) }

    /// - Returns: whether anything was put out.
    package func redact(_ fields: inout Fields) -> Bool {
        var result = Fields()
        var isChanged = false
        for line in fields.lines {
            let found = FieldSecrets.secrets(of: line, in: fields)
            let value = replaced(Array(fields.bytes[line.value.range]), found)
            isChanged = isChanged || found.contains { !$0.isPlaceholder }
            result.append(name: fields.name(of: line), value: value.span)
        }
        if isChanged { fields = result }
        return isChanged
    }

    /// What a body becomes.
    package enum Body: Equatable, Sendable {
        /// Nothing was found in it.
        case asItWas
        /// Out of its codings, with placeholders.
        case replaced([UInt8])
        /// It could not be searched, and is not to be kept then.
        case refused
    }

    /// Searches a body that stands in memory.
    package func body(_ octets: [UInt8], describedBy fields: Fields) -> Body {
        guard let decoded = DecodedBody.decoded(octets, describedBy: fields) else { return unsearched(describedBy: fields) }
        let kind = MediaKind(of: fields)
        var text = decoded
        if kind == .json, !pointers.isEmpty { replaceValues(in: &text) }
        text = replaced(text, SecretScan.secrets(in: text))
        return text == decoded ? .asItWas : .replaced(text)
    }

    /// What becomes of a body that was too long to be searched.
    package func unsearched(describedBy fields: Fields) -> Body {
        let refuses = unscanned.map { $0 == .refuse } ?? MediaKind(of: fields).isReadForSecrets
        return refuses ? .refused : .asItWas
    }

    /// Puts right what fields say of a body that was changed: it stands in no coding any more, and its digests and tag are others.
    package static func describe(_ body: [UInt8], in fields: inout Fields) {
        let isTagged = fields.contains(.etag)
        let hasLength = fields.contains(.contentLength)
        let digestNames = ["content-md5", "digest", "content-digest", "repr-digest"].map { Array($0.utf8) }
        let digests = digestNames.suffix(2).filter { fields.index(ofName: $0.span) != nil }
        fields.remove { fields, line in
            switch line.known {
            case .contentEncoding, .contentLength, .etag: true
            case .other: digestNames.contains { fields.name(of: line).equalsIgnoringCase($0.span) }
            default: false
            }
        }
        let digest = ContentDigest(of: body, by: .sha256)
        if hasLength { fields.append(name: "Content-Length", value: "\(body.count)") }
        if isTagged { fields.append(name: "ETag", value: "\"larder-\(Hexadecimal.encode(digest.octets.prefix(16)))\"") }
        for name in digests {
            fields.append(name: String(decoding: name, as: UTF8.self), value: DigestField([digest]).description)
        }
    }

    private func replaced(_ text: [UInt8], _ found: [FoundSecret]) -> [UInt8] {
        text.replacing(found) { octets, secret in
            secret.isPlaceholder ? Array(octets) : Placeholder.make(for: Array(octets), secret.kind, under: key)
        }
    }

    private func replaceValues(in text: inout [UInt8]) {
        // What is no JSON is searched as a text alone.
        guard var value = try? JSONValue(parsing: text, options: JSONParseOptions(lengthLimit: SnapshotLimits.requestBodyLength))
        else { return }
        var isChanged = false
        for pointer in pointers {
            guard let secret = value[pointer] else { continue }
            let octets = Array((secret.string ?? secret.description).utf8)
            if octets.starts(with: SecretMark.word) { continue }
            let placeholder = Placeholder.make(for: octets, .opaque, under: key)
            isChanged = value.set(.string(String(decoding: placeholder, as: UTF8.self)), at: pointer) || isChanged
        }
        if isChanged { text = value.text() }
    }
}
