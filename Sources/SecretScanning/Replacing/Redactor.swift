import HTTPMessage
import HTTPSerialization

/// Replaces secrets by placeholders before any part of an exchange is written.
package struct Redactor: Sendable {
    /// What to do with a body that cannot be searched. Such a body is longer than 8 MiB, has a coding that cannot be decoded, or
    /// takes the match file's patterns too many steps.
    package enum Unscanned: String, Sendable, CaseIterable {
        /// The exchange is not recorded.
        case refuse
        case keep
    }

    private let key: ProjectKey
    private let finder: SecretFinder
    private let pointers: [JSONPointer]
    /// What to do with a body that cannot be searched; `nil` refuses JSON bodies and forms, and keeps other bodies.
    private let unscanned: Unscanned?
    private var known = KnownSecrets()
    /// Increases whenever further secrets become known.
    package private(set) var knowledge = 0

    package init(key: ProjectKey, secrets: DeclaredSecrets, unscanned: Unscanned? = nil) throws(SecretScanningError) {
        try self.init(key: key, secrets: secrets, unscanned: unscanned, patternWork: SecretFinder.patternWork)
    }

    /// - Parameter patternWork: the maximum number of steps of all patterns together in one text.
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

    /// Replaces the secrets in a target URI. Its origin stays, because replay needs the host.
    package func redacted(uri: [UInt8]) -> [UInt8] {
        let origin = SplitURI(uri).origin.count
        let elsewhere = known.found(in: uri).filter { $0.range.lowerBound >= origin }
        return replaced(uri, finder.secrets(inURI: uri).merged(with: elsewhere))
    }

    /// - Returns: whether a secret was replaced.
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

    /// The result of searching a body.
    package enum Body: Equatable, Sendable {
        /// No secret was replaced.
        case asItWas
        /// The decoded body with placeholders.
        case replaced([UInt8])
        /// The body could not be searched, and must not be kept unsearched.
        case refused
    }

    /// Searches a body in memory, and learns its secrets.
    package mutating func body(_ octets: [UInt8], describedBy fields: Fields) -> Body {
        guard let decoded = DecodedBody.decoded(octets, describedBy: fields) else { return unsearched(describedBy: fields) }
        let kind = MediaKind(of: fields)
        // JSON pointers are only found in UTF-8, and no pattern or name is found in UTF-32.
        if kind == .json || kind == .jsonTexts, DecodedBody.isUTF16OrUTF32(decoded), unsearched(describedBy: fields) == .refused {
            return .refused
        }
        var text = decoded
        if kind == .json, !pointers.isEmpty { replaceValues(in: &text) }
        let search = finder.search(inBody: text, kind)
        learn(search.secrets, in: text)
        if !search.isWhole, unsearched(describedBy: fields) == .refused { return .refused }
        text = replaced(text, search.secrets.merged(with: knownSecrets(in: text)))
        return text == decoded ? .asItWas : .replaced(text)
    }

    /// The result for a body that cannot be searched.
    package func unsearched(describedBy fields: Fields) -> Body {
        let refuses = unscanned.map { $0 == .refuse } ?? MediaKind(of: fields).isReadForSecrets
        return refuses ? .refused : .asItWas
    }

    /// Updates the fields that describe a changed body: its length, coding, digests and entity tag.
    /// - Parameter keepsCoding: whether the body still has its content coding; otherwise it has none.
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

    /// The known secrets in a body, also if it is in UTF-16.
    private func knownSecrets(in text: [UInt8]) -> [FoundSecret] {
        let found = known.found(in: text)
        guard !known.isEmpty, let unicode = UTF16Text(text) else { return found }
        return unicode.inSource(known.found(in: unicode.utf8)).merged(with: found)
    }

    private func replaced(_ text: [UInt8], _ found: [FoundSecret]) -> [UInt8] {
        text.replacing(found) { octets, secret in
            let value = secret.value ?? Array(octets)
            // In a text in UTF-16, `value` is the placeholder in UTF-8.
            if secret.isPlaceholder { return secret.byteOrder == nil ? Array(octets) : value }
            return Placeholder.make(for: value, secret.kind, under: key)
        }
    }

    private mutating func replaceValues(in text: inout [UInt8]) {
        // A body that is not JSON is only searched as text.
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
