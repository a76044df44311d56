import HTTPMessage
import HTTPSerialization

/// Puts placeholders in the place of secrets before anything of an exchange is written.
package struct Redactor: Sendable {
    /// What becomes of a body that cannot be searched: longer than 8 MiB, in a coding that does not come off, or one for which the patterns of the
    /// match file take too many steps.
    package enum Unscanned: String, Sendable, CaseIterable {
        /// The exchange is not recorded.
        case refuse
        case keep
    }

    private let key: ProjectKey
    private let finder: SecretFinder
    private let pointers: [JSONPointer]
    /// `nil`: JSON and forms are refused, others kept.
    private let unscanned: Unscanned?
    private var known = KnownSecrets()
    /// Counts how often something became known that had not been.
    package private(set) var knowledge = 0

    package init(key: ProjectKey, secrets: DeclaredSecrets, unscanned: Unscanned? = nil) throws(SecretScanningError) {
        try self.init(key: key, secrets: secrets, unscanned: unscanned, patternWork: SecretFinder.patternWork)
    }

    /// - Parameter patternWork: steps that all patterns may take in one text together.
    init(key: ProjectKey, secrets: DeclaredSecrets, unscanned: Unscanned?, patternWork: Int) throws(SecretScanningError) {
        self.key = key
        finder = try SecretFinder(secrets, patternWork: patternWork)
        pointers = secrets.pointers
        self.unscanned = unscanned
    }

    // MARK: Learning

    private mutating func learn(_ found: [FoundSecret], in text: [UInt8]) {
        if known.learn(found, in: text) { knowledge += 1 }
    }

    package mutating func learn(uri: [UInt8]) { learn(finder.secrets(inURI: uri), in: uri) }

    package mutating func learn(_ fields: Fields) {
        for line in fields.lines {
            learn(finder.secrets(of: line, in: fields), in: Array(fields.bytes[line.value.range]))
        }
    }

    // MARK: Replacing

    /// A target URI with placeholders. Its origin stays: replay has to know which host is meant.
    package func redacted(uri: [UInt8]) -> [UInt8] {
        let origin = SplitURI(uri).origin.count
        let elsewhere = known.found(in: uri).filter { $0.range.lowerBound >= origin }
        return replaced(uri, finder.secrets(inURI: uri).merged(with: elsewhere))
    }

    /// - Returns: whether anything was put out.
    package func redact(_ fields: inout Fields) -> Bool {
        var result = Fields()
        var isChanged = false
        for line in fields.lines {
            let text = Array(fields.bytes[line.value.range])
            let found = finder.secrets(of: line, in: fields).merged(with: known.found(in: text))
            let value = replaced(text, found)
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

    /// Searches a body that stands in memory, and learns from it.
    package mutating func body(_ octets: [UInt8], describedBy fields: Fields) -> Body {
        guard let decoded = DecodedBody.decoded(octets, describedBy: fields) else { return unsearched(describedBy: fields) }
        let kind = MediaKind(of: fields)
        // Secrets are looked for in UTF-8 alone.
        if kind == .json || kind == .jsonTexts, DecodedBody.isUTF16OrUTF32(decoded), unsearched(describedBy: fields) == .refused {
            return .refused
        }
        var text = decoded
        if kind == .json, !pointers.isEmpty { replaceValues(in: &text) }
        let search = finder.search(inBody: text, kind)
        learn(search.secrets, in: text)
        if !search.isWhole, unsearched(describedBy: fields) == .refused { return .refused }
        text = replaced(text, search.secrets.merged(with: known.found(in: text)))
        return text == decoded ? .asItWas : .replaced(text)
    }

    /// What becomes of a body that cannot be searched.
    package func unsearched(describedBy fields: Fields) -> Body {
        let refuses = unscanned.map { $0 == .refuse } ?? MediaKind(of: fields).isReadForSecrets
        return refuses ? .refused : .asItWas
    }

    /// Puts right what fields say of a body that was changed: its digests and tag are others.
    /// - Parameter keepsCoding: it stands in its coding still, else in none.
    package static func describe(_ body: [UInt8], in fields: inout Fields, keepingCoding keepsCoding: Bool = false) {
        let isTagged = fields.contains(.etag)
        let hasLength = fields.contains(.contentLength)
        let digestNames = ["content-md5", "digest", "content-digest", "repr-digest"].map { Array($0.utf8) }
        let digests = digestNames.suffix(2).filter { fields.index(ofName: $0.span) != nil }
        fields.remove { fields, line in
            switch line.known {
            case .contentEncoding: !keepsCoding
            case .contentLength, .etag: true
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
            secret.isPlaceholder
                ? Array(octets) : Placeholder.make(for: secret.value ?? Array(octets), secret.kind, under: key)
        }
    }

    private mutating func replaceValues(in text: inout [UInt8]) {
        // What is no JSON is searched as a text alone.
        guard var value = try? JSONValue(parsing: text, options: JSONParseOptions(lengthLimit: DecodedBody.lengthLimit))
        else { return }
        var isChanged = false
        for pointer in pointers {
            guard let secret = value[pointer] else { continue }
            let octets = Array((secret.string ?? secret.description).utf8)
            if octets.starts(with: SecretMark.word) { continue }
            if known.learn(declared: octets) { knowledge += 1 }
            let placeholder = Placeholder.make(for: octets, .opaque, under: key)
            isChanged = value.set(.string(String(decoding: placeholder, as: UTF8.self)), at: pointer) || isChanged
        }
        if isChanged { text = value.text() }
    }
}
