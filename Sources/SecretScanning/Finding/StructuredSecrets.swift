import HTTPMessage

/// Finds values whose names indicate secrets, according to the text's format: pairs in queries and forms, JSON, XML, multipart bodies,
/// YAML and other lines of assignments, and quoted values in program text.
///
/// Each search takes time linear in the text's length, also for malformed text: a search for an end that is missing is made once.
struct StructuredSecrets {
    let octets: UnsafeBufferPointer<UInt8>
    let evidence: (_ name: [UInt8], _ site: SecretNames.Site) -> SecretNames.Evidence?
    var found: [FoundSecret] = []
    /// The search for the ends of comments and sections in XML.
    var markup = MarkupEnds()

    /// The maximum nesting of texts within texts, such as JSON in a form field. Deeper texts are only searched for tokens.
    static let depthLimit = 4
    let depth: Int

    init(
        _ octets: UnsafeBufferPointer<UInt8>, depth: Int = 0,
        _ evidence: @escaping (_ name: [UInt8], _ site: SecretNames.Site) -> SecretNames.Evidence?
    ) {
        self.octets = octets
        self.depth = depth
        self.evidence = evidence
    }

    /// Adds a value whose name indicates a secret.
    /// - Parameter value: the unescaped value.
    mutating func note(_ range: Range<Int>, _ evidence: SecretNames.Evidence, value: [UInt8]? = nil, quote: [UInt8] = []) {
        let text = value ?? Array(octets[range])
        guard SecretNames.isSecret(text, under: evidence) else { return }
        if let token = SecretScan.token(in: octets, at: range.lowerBound), token.range == range { return found.append(token) }
        // The scheme, such as `Bearer`, is not part of the secret, as in the Authorization field.
        if let scheme = Self.scheme(of: octets[range]) {
            let rest = value.map { Array($0.dropFirst(scheme)) }
            return note(range.lowerBound + scheme..<range.upperBound, evidence, value: rest)
        }
        found.append(
            FoundSecret(
                range: range, kind: .opaque, isPlaceholder: false,
                value: value.flatMap { $0.elementsEqual(octets[range]) ? nil : $0 },
                quote: quote, evidence: evidence))
    }

    private static let schemes = ["bearer ", "token ", "basic "].map { Array($0.utf8) }

    /// The length of an authentication scheme before a credential, with its space; `nil` if there is none.
    static func scheme(of value: some Collection<UInt8>) -> Int? {
        schemes.first { value.count > $0.count && value.prefix($0.count).map(ASCII.lowercased) == $0 }?.count
    }

    /// Searches a decoded text that is contained in this text.
    /// - Parameter quote: the escaped form of a quote in this text.
    mutating func search(_ text: DecodedText, quote: String) {
        guard depth < Self.depthLimit else { return }
        text.octets.withUnsafeBufferPointer { octets in
            var inner = StructuredSecrets(octets, depth: depth + 1, evidence)
            inner.searchText()
            for secret in inner.found.merged(with: SecretScan.secrets(in: text.octets)) {
                let range = text.source(of: secret.range)
                let value = secret.value ?? Array(text.octets[secret.range])
                // The first and last lines of a key's placeholder are escaped like the key itself.
                let isAsItStands = secret.kind == .privateKey || value.elementsEqual(self.octets[range])
                found.append(
                    FoundSecret(
                        range: range, kind: secret.kind, isPlaceholder: secret.isPlaceholder,
                        value: isAsItStands ? nil : value,
                        quote: secret.quote.isEmpty ? [] : Array(quote.utf8), evidence: secret.evidence))
            }
        }
    }

    // MARK: Queries and forms

    /// Reads percent-encoded `name=value` pairs between `&`, also between `&amp;` as in XML and HTML.
    mutating func searchPairs(_ range: Range<Int>, _ site: SecretNames.Site) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end =
                octets[start..<range.upperBound].firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "#") }
                ?? range.upperBound
            defer { start = end + 1 }
            guard let equals = octets[start..<end].firstIndex(of: ASCII.equals) else { continue }
            var name = DecodedText(percentEncoded: octets, start..<equals).octets
            for ampersand in ["amp;", "#38;"] where name.starts(with: Array(ampersand.utf8)) {
                name.removeFirst(ampersand.utf8.count)
            }
            let value = equals + 1..<end
            if let evidence = evidence(name, site) {
                note(value, evidence, value: DecodedText(percentEncoded: octets, value).octets)
            } else if octets[value].contains(UInt8(ascii: "%")) {
                search(DecodedText(percentEncoded: octets, value), quote: "%22")
            }
        }
    }

    /// The byte order mark U+FEFF in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Searches a text of unknown format for URLs, and as JSON, XML or GraphQL if the text looks like that. Otherwise searches it for
    /// assignments.
    private mutating func searchText() {
        let start = octets.starts(with: Self.byteOrderMark) ? 3 : 0
        let first = octets.dropFirst(start).first { !ASCII.isBlank($0) && $0 != ASCII.lf && $0 != ASCII.cr }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            searchAnyJSON()
        } else if first == UInt8(ascii: "<") {
            searchXML()
        } else if isGraphQL {
            searchLiterals(0..<octets.count, .any)
        } else {
            searchLiterals(0..<octets.count, .generated)
            searchLines(.unknown)
        }
        searchURLs()
    }

    /// Searches JSON, and JSON5 whose names or values have other quotes or none.
    private mutating func searchAnyJSON() {
        searchJSON()
        if isLooseJSON { searchLiterals(0..<octets.count, .any) }
    }

    // MARK: URLs

    /// Searches all URLs in the text for passwords and queries.
    mutating func searchURLs() {
        var place = 0
        while place + 3 < octets.count {
            guard octets[place] == ASCII.colon, octets[place + 1] == ASCII.slash, octets[place + 2] == ASCII.slash else {
                place += 1
                continue
            }
            place = searchURL(from: place + 3)
        }
    }

    /// Searches a reference without a scheme, such as in Location.
    mutating func searchReference() {
        guard let question = octets.firstIndex(where: { $0 == ASCII.question || $0 == UInt8(ascii: "#") }) else { return }
        searchPairs(question + 1..<endOfURL(from: question + 1), .query)
    }

    /// - Returns: the end of the URL.
    private mutating func searchURL(from start: Int) -> Int {
        let end = endOfURL(from: start)
        let authority = octets[start..<end].firstIndex { "/?#".utf8.contains($0) } ?? end
        if let at = octets[start..<authority].lastIndex(of: UInt8(ascii: "@")) {
            if let colon = octets[start..<at].firstIndex(of: ASCII.colon) {
                note(colon + 1..<at, .password, value: EscapedText.unescaped(octets[colon + 1..<at]))
            } else {
                note(start..<at, .random(16))
            }
        }
        if let semicolon = octets[authority..<end].firstIndex(of: ASCII.semicolon) {
            let pathEnd = octets[semicolon..<end].firstIndex { "/?#".utf8.contains($0) } ?? end
            searchPairs(semicolon + 1..<pathEnd, .query)
        }
        if let question = octets[authority..<end].firstIndex(where: { $0 == ASCII.question || $0 == UInt8(ascii: "#") }) {
            searchPairs(question + 1..<end, .query)
        }
        return end
    }

    /// The end of a URL: the first byte that URLs do not contain.
    private func endOfURL(from start: Int) -> Int {
        octets.end(from: start, limit: 16 << 10) { $0 > ASCII.space && $0 != 0x7F && !"\"'<>\\`".utf8.contains($0) }
    }

    // MARK: Search by kind of body

    mutating func search(as kind: MediaKind) {
        switch kind {
        case .json, .jsonTexts: searchAnyJSON()
        case .form: searchPairs(0..<octets.count, .form)
        case .xml: searchXML()
        case .multipart(let boundary): searchMultipart(boundary: boundary)
        case .yaml:
            searchLines(.yaml)
            searchLiterals(0..<octets.count, .quoted)
        case .assignments:
            searchLines(.assignments)
            searchLiterals(0..<octets.count, .quoted)
        case .literals: searchLiterals(0..<octets.count, .any)
        case .script: searchLiterals(0..<octets.count, .generated)
        case .text: searchText()
        case .other: break
        }
    }
}
