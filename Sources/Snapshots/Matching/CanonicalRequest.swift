import HTTPCaching
import HTTPMessage
import HTTPSerialization
import SecretScanning
import ServerTrust

/// A request without the parts that do not affect the response, and with a mark in place of each secret.
///
/// Its text can be read, and compared line by line (docs/snapshot-format.md). The text has the method, the URI, the digest of the body,
/// and then the fields that distinguish requests.
struct CanonicalRequest {
    let method: [UInt8]
    private(set) var uri: [UInt8]
    /// SHA-256 of the canonical body in hexadecimal; `-` if the request has no body.
    private(set) var bodyDigest: [UInt8]
    /// The canonical body; `nil` if the request has no body, or if only the body's digest is known.
    let body: [UInt8]?
    /// The kind of the body's media type.
    let mediaKind: MediaKind
    /// The request's fields without the ignored fields, with marks in place of secrets.
    let fields: Fields
    /// Fields that distinguish requests regardless of Vary: credentials, and the fields in `match.fields`.
    let countedFields: [(name: [UInt8], value: [UInt8])]
    /// The secrets in the parts that distinguish requests, each with its kind.
    private(set) var secrets: [(octets: [UInt8], found: FoundSecret)]

    private let terms: MatchTerms
    private let ignoredFields: [String]

    init(_ request: RequestToMatch, _ matcher: RequestMatcher) {
        let rules = matcher.rules(for: request)
        var secrets: [(octets: [UInt8], found: FoundSecret)] = []
        func marked(_ text: [UInt8], _ found: [FoundSecret]) -> [UInt8] {
            text.replacing(found) { octets, secret in
                secrets.append((secret.value ?? Array(octets), secret))
                return SecretMark.canonical
            }
        }
        method = request.method
        let ruled = RuledURI(request.uri, rules, matcher.finder)
        uri = ruled.text
        secrets += ruled.secrets
        let ignored = rules.flatMap { $0.canonicaliser.ignoredFields }
        let counted = ["authorization", "cookie"] + matcher.terms.fields.filter { $0 != "authorization" && $0 != "cookie" }
        var kept = Fields()
        for line in request.fields.lines {
            let name = request.fields.bytes[line.name.range].map(ASCII.lowercased)
            let text = String(decoding: name, as: UTF8.self)
            if ignored.contains(text) { continue }
            let value = Array(request.fields.bytes[line.value.range])
            let found = matcher.finder.secrets(of: line, in: request.fields)
            // A secret in a field distinguishes requests only if the field distinguishes requests.
            let canonical =
                counted.contains(text) ? marked(value, found) : value.replacing(found) { _, _ in SecretMark.canonical }
            kept.append(name: name.span, value: canonical.span)
        }
        switch request.body {
        case .none:
            body = nil
            bodyDigest = [UInt8(ascii: "-")]
        case .octets(let octets) where octets.isEmpty:
            body = nil
            bodyDigest = [UInt8(ascii: "-")]
        case .octets(let octets):
            var content = CanonicalBody(octets, describedBy: request.fields, matcher.terms)
            content.apply(rules)
            let text = marked(content.text, content.secrets(matcher.finder))
            body = text
            bodyDigest = Array(Hexadecimal.encode(Hashing.sha256(text)).utf8)
        case .digest(let digest, _):
            body = nil
            bodyDigest = Array(Hexadecimal.encode(digest.octets).utf8)
        }
        fields = kept
        mediaKind = MediaKind(of: request.fields)
        self.secrets = secrets
        terms = matcher.terms
        ignoredFields = ignored
        countedFields = counted.compactMap { name in
            kept.value(ofAllLinesNamed: Array(name.utf8)).map { (Array(name.utf8), $0) }
        }
    }

    /// The same request, with a mark in place of each value that Larder replaced in a recording only because it knew the value.
    /// Neither a name nor the form of such a value indicates a secret.
    /// - Parameter values: this request's values in the places of the recording's marks.
    func marked(as recorded: CanonicalRequest, _ values: [[UInt8]]) -> CanonicalRequest {
        var request = self
        request.uri = recorded.uri
        request.bodyDigest = recorded.bodyDigest
        request.secrets += values.map { value in
            (value, FoundSecret(range: 0..<value.count, kind: .opaque, isPlaceholder: false))
        }
        return request
    }

    /// The input of the primary key's hash.
    var text: [UInt8] {
        var text = Array("larder-request-1\n".utf8)
        for line in [method, uri, bodyDigest] { text += line + [ASCII.lf] }
        for (name, value) in countedFields { text += name + [ASCII.colon] + value + [ASCII.lf] }
        return text
    }

    var primary: PrimaryKey { PrimaryKey(SHA256Digest(of: text)) }

    /// The key of a recording with this response: a hash of the request's text, a zero byte, and the canonical form of the request
    /// fields that the response's Vary nominates.
    func key(nominatedBy response: Fields?) -> SHA256Digest {
        SHA256Digest(Hashing.sha256(text, [0], response.map(nominatedForm) ?? []))!  // a SHA-256 digest has 32 bytes
    }

    /// The lower-case names of the request fields that distinguish recordings with this response; empty for `Vary: *`.
    func nominatedNames(by response: Fields) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for line in response.lines where line.known == .vary {
            let value = response.value(of: line)
            var elements = ListElements()
            while let element = elements.next(in: value) {
                let name = element.map { ASCII.lowercased(value[$0]) }
                // A response with `Vary: *` is recorded too, and replayed for the request that it answered.
                if name == [UInt8(ascii: "*")] { return [] }
                if isCounted(name), !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    private func isCounted(_ name: [UInt8]) -> Bool {
        if name == Array("accept-encoding".utf8), !terms.isExact { return false }
        return !ignoredFields.contains(String(decoding: name, as: UTF8.self))
    }

    private func nominatedForm(_ response: Fields) -> [UInt8] {
        let names = nominatedNames(by: response)
        if names.isEmpty { return [] }
        var head = ResponseHead()
        head.fields.append("Vary", Array(names.joined(separator: [ASCII.comma])).span)
        var request = RequestHead()
        request.fields = fields
        // If Vary nominates too many fields, none of them distinguishes requests.
        return Vary.nominatedFields(for: head, request: request) ?? []
    }

    /// A digest of the request's secrets. In one run, it distinguishes requests that differ only in their secrets.
    var secretValues: SHA256Digest {
        SHA256Digest(
            of: secrets.flatMap { secret -> [UInt8] in
                var octets: [UInt8] = []
                octets.append(bigEndian: UInt32(secret.octets.count))
                return octets + secret.octets
            })
    }

    /// The digest of the request's secrets: their placeholders, sorted, each with a line feed. A secret that is already a placeholder
    /// is used unchanged.
    /// - Returns: `nil` if the request has a secret and there is no project key to compute its placeholder.
    func secretsDigest(under key: ProjectKey?) -> SHA256Digest? {
        var lines: [[UInt8]] = []
        for (octets, secret) in secrets {
            if secret.isPlaceholder {
                lines.append(octets + [ASCII.lf])
            } else if let key {
                lines.append(Placeholder.make(for: octets, secret.kind, under: key) + [ASCII.lf])
            } else {
                return nil
            }
        }
        lines.sort { $0.lexicographicallyPrecedes($1) }
        return SHA256Digest(of: Array(lines.joined()))
    }
}

/// A target URI without the parts that rules remove, and with a mark in place of each remaining secret.
private struct RuledURI {
    private(set) var text: [UInt8] = []
    private(set) var secrets: [(octets: [UInt8], found: FoundSecret)] = []

    init(_ uri: [UInt8], _ rules: [CanonicalRule], _ finder: SecretFinder) {
        var found: [(octets: [UInt8], found: FoundSecret)] = []
        let end = UInt8(ascii: ".")
        // Numbered marks that are valid in a URI, so that match rules can parse the URI.
        let marked = uri.replacing(finder.secrets(inURI: uri)) { octets, secret in
            found.append((secret.value ?? Array(octets), secret))
            return SecretMark.word + Array("\(found.count - 1)".utf8) + [end]
        }
        let ruled = rules.reduce(marked) { uri, rule in rule.canonicalURI(uri) }
        ruled.withUnsafeBufferPointer { octets in
            var place = 0
            while place < octets.count {
                let digits = place + SecretMark.word.count
                guard octets[place] == SecretMark.word[0], octets.holds(SecretMark.word, at: place),
                    case let behind = octets.end(from: digits, limit: 6, while: ASCII.isDigit), octets.holds([end], at: behind),
                    let number = Int(String(decoding: octets[digits..<behind], as: UTF8.self)), found.indices.contains(number)
                else {
                    text.append(octets[place])
                    place += 1
                    continue
                }
                secrets.append(found[number])
                text += SecretMark.canonical
                place = behind + 1
            }
        }
    }
}
