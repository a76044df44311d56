import HTTPMessage

/// Finds values whose names indicate secrets, according to the text's format: pairs in queries and forms, JSON, XML and multipart bodies.
struct StructuredSecrets {
    private let octets: UnsafeBufferPointer<UInt8>
    private let evidence: (_ name: [UInt8], _ site: SecretNames.Site) -> SecretNames.Evidence?
    private(set) var found: [FoundSecret] = []

    /// The maximum nesting of texts within texts, such as JSON in a form field. Deeper texts are only searched for tokens.
    private static let depthLimit = 4
    private let depth: Int

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
    private mutating func note(_ range: Range<Int>, _ evidence: SecretNames.Evidence, value: [UInt8]? = nil, quote: [UInt8] = [])
    {
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

    private static func scheme(of value: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        schemes.first { value.count > $0.count && value.prefix($0.count).map(ASCII.lowercased) == $0 }?.count
    }

    /// Searches a decoded text that is contained in this text.
    /// - Parameter quote: the escaped form of a quote in this text.
    private mutating func search(_ text: DecodedText, quote: String) {
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

    /// Searches a text of unknown format for URLs, and as JSON or XML if the text looks like that.
    private mutating func searchText() {
        let first = octets.dropFirst(octets.starts(with: Self.byteOrderMark) ? 3 : 0).first { !ASCII.isBlank($0) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { searchJSON() }
        if first == UInt8(ascii: "<") { searchXML() }
        searchURLs()
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

    // MARK: JSON

    /// Reads members of objects in one or several JSON texts, such as JSON lines and event streams. A truncated text is searched up to its
    /// end.
    mutating func searchJSON() { searchJSON(0..<octets.count) }

    private mutating func searchJSON(_ range: Range<Int>) {
        var place = range.lowerBound
        while place < range.upperBound {
            guard octets[place] == ASCII.quote else {
                place += 1
                continue
            }
            let content = place + 1..<endOfString(from: place + 1, before: range.upperBound)
            place = content.upperBound + 1
            let colon = endOfBlanks(from: place, before: range.upperBound)
            guard colon < range.upperBound, octets[colon] == ASCII.colon else {
                searchString(content)
                continue
            }
            place = colon + 1
            let name =
                octets[content].contains(ASCII.backslash)
                ? DecodedText(jsonEscaped: octets, content).octets : Array(octets[content])
            if let evidence = evidence(name, .json) {
                place = noteValue(from: place, before: range.upperBound, evidence)
            }
        }
    }

    /// - Returns: the position to continue from: after the value if it is a secret, otherwise before the value.
    private mutating func noteValue(from colon: Int, before limit: Int, _ evidence: SecretNames.Evidence) -> Int {
        let start = endOfBlanks(from: colon, before: limit)
        guard start < limit else { return start }
        switch octets[start] {
        case ASCII.quote: return noteString(from: start, before: limit, evidence)
        case UInt8(ascii: "["):
            var place = start + 1
            while true {
                place = octets.end(from: place, limit: limit - place) { ASCII.isBlank($0) || "\r\n,".utf8.contains($0) }
                guard place < limit, octets[place] == ASCII.quote else { return place }
                place = noteString(from: place, before: limit, evidence)
            }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let end = octets.end(from: start, limit: limit - start) { ASCII.isDigit($0) || "+-.eE".utf8.contains($0) }
            if evidence == .password { note(start..<end, evidence, quote: [ASCII.quote]) }
            return end
        default: return start
        }
    }

    private mutating func noteString(from quote: Int, before limit: Int, _ evidence: SecretNames.Evidence) -> Int {
        let content = quote + 1..<endOfString(from: quote + 1, before: limit)
        note(content, evidence, value: DecodedText(jsonEscaped: octets, content).octets)
        return content.upperBound + 1
    }

    /// Searches within a string that is not a secret itself: it may contain JSON, a URL or an escaped token.
    private mutating func searchString(_ content: Range<Int>) {
        guard octets[content].contains(ASCII.backslash) else { return }
        search(DecodedText(jsonEscaped: octets, content), quote: "\\\"")
    }

    private func endOfString(from start: Int, before limit: Int) -> Int {
        var end = start
        while end < limit, octets[end] != ASCII.quote { end += octets[end] == ASCII.backslash ? 2 : 1 }
        return min(end, limit)
    }

    private func endOfBlanks(from start: Int, before limit: Int) -> Int {
        min(octets.end(from: start, limit: 1 << 10) { ASCII.isBlank($0) || $0 == ASCII.lf || $0 == ASCII.cr }, limit)
    }

    // MARK: XML

    /// Reads contents of elements and values of attributes, in XML and in HTML. Also reads the attributes `value` and `content` next to a
    /// `name` that indicates a secret.
    mutating func searchXML() {
        var place = 0
        while let opening = octets[place...].firstIndex(of: UInt8(ascii: "<")) {
            place = opening + 1
            let nameEnd = octets.end(from: place, limit: 256) { !isXMLBlank($0) && $0 != UInt8(ascii: ">") && $0 != ASCII.slash }
            guard nameEnd > place, !"!?".utf8.contains(octets[place]) else { continue }
            let name = Array(octets[place..<nameEnd])
            let (close, isEmpty) = searchAttributes(from: nameEnd)
            place = close
            guard !isEmpty, let evidence = evidence(name, .xml) else { continue }
            place = noteContent(from: close, evidence)
        }
    }

    /// - Returns: the position after `>`, and whether the tag also closes the element.
    private mutating func searchAttributes(from start: Int) -> (end: Int, isEmpty: Bool) {
        var place = start
        var named: SecretNames.Evidence?
        var values: [Range<Int>] = []
        while true {
            place = octets.end(from: place, limit: .max) { isXMLBlank($0) || $0 == ASCII.slash }
            guard place < octets.count, octets[place] != UInt8(ascii: ">"), octets[place] != UInt8(ascii: "<") else { break }
            let name = place..<octets.end(from: place, limit: .max) { !isXMLBlank($0) && !"=><".utf8.contains($0) }
            place = octets.end(from: name.upperBound, limit: 64, while: isXMLBlank)
            guard place < octets.count, octets[place] == ASCII.equals else {
                if place == name.lowerBound { place += 1 }
                continue
            }
            place = octets.end(from: place + 1, limit: 64, while: isXMLBlank)
            guard place < octets.count, octets[place] == ASCII.quote || octets[place] == UInt8(ascii: "'") else { continue }
            let quote = octets[place]
            let value = place + 1..<octets.end(from: place + 1, limit: SecretScan.tokenLengthLimit) { $0 != quote }
            place = min(value.upperBound + 1, octets.count)
            switch String(decoding: SecretNames.normalised(octets[name]), as: UTF8.self) {
            case "name", "id", "key": named = named ?? evidence(Array(octets[value]), .xml)
            case "value", "content": values.append(value)
            default:
                if let evidence = evidence(Array(octets[name]), .xml) { noteXML(value, evidence) }
            }
        }
        if let named { for value in values { noteXML(value, named) } }
        let isEmpty = place > start && octets[place - 1] == ASCII.slash
        return (min(place + 1, octets.count), isEmpty)
    }

    /// - Returns: the position to continue from. A CDATA section is skipped, since it contains no elements. If its end is missing, the
    ///   search stops: otherwise each of many unterminated sections would be read to the end of the text.
    private mutating func noteContent(from start: Int, _ evidence: SecretNames.Evidence) -> Int {
        let opening = Array("<![CDATA[".utf8)
        var content = start
        content = octets.end(from: content, limit: 1 << 10, while: isXMLBlank)
        if octets.holds(opening, at: content) {
            content += opening.count
            var end = content
            let closing = Array("]]>".utf8)
            while end < octets.count, !octets.holds(closing, at: end) { end += 1 }
            note(content..<end, evidence)
            return end
        }
        let next = octets.end(from: content, limit: SecretScan.tokenLengthLimit) { $0 != UInt8(ascii: "<") }
        // An element with children has no single value.
        guard octets.holds(Array("</".utf8), at: next) else { return next }
        var end = next
        while end > content, isXMLBlank(octets[end - 1]) { end -= 1 }
        noteXML(content..<end, evidence)
        return next
    }

    private mutating func noteXML(_ range: Range<Int>, _ evidence: SecretNames.Evidence) {
        note(range, evidence, value: Self.withoutEntities(octets[range]))
    }

    private func isXMLBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0D }

    private static func withoutEntities(_ text: some Collection<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "&")) else { return Array(text) }
        var result = String(decoding: Array(text), as: UTF8.self)
        for (entity, character) in EscapedText.entities { result = result.replacing(entity, with: character) }
        return Array(result.utf8)
    }

    // MARK: Multipart

    /// Searches parts by their names (RFC 7578 §4.2), and their contents by their own types.
    mutating func searchMultipart(boundary: [UInt8]) {
        let delimiter = Array("--".utf8) + boundary
        var place = next(delimiter, from: 0)
        while let start = place {
            let head = start + delimiter.count
            place = next(delimiter, from: head)
            guard var end = place else { return }
            // The line break before a delimiter belongs to the delimiter.
            if end > head, octets[end - 1] == ASCII.lf { end -= 1 }
            if end > head, octets[end - 1] == ASCII.cr { end -= 1 }
            searchPart(head..<end)
        }
    }

    private mutating func searchPart(_ part: Range<Int>) {
        var fields = Fields()
        var place = part.lowerBound
        while place < part.upperBound {
            let end = octets[place..<part.upperBound].firstIndex(of: ASCII.lf) ?? part.upperBound
            let line = octets[place..<end].filter { $0 != ASCII.cr }
            place = min(end + 1, part.upperBound)
            if line.isEmpty, end > part.lowerBound + 2 { break }
            if let colon = line.firstIndex(of: ASCII.colon) {
                let value = Array(line[(colon + 1)...])
                fields.append(
                    name: Array(line[..<colon]).span, value: Array(value[value.span.trimmedBounds(in: 0..<value.count)]).span)
            }
        }
        let content = place..<part.upperBound
        guard !content.isEmpty else { return }
        let disposition = fields.value(ofAllLinesNamed: Array("content-disposition".utf8)) ?? []
        if let name = Self.parameter("name", of: disposition), let evidence = evidence(name, .form) {
            return note(content, evidence)
        }
        let kind = MediaKind(of: fields)
        guard depth < Self.depthLimit, kind != .other else { return }
        var inner = StructuredSecrets(UnsafeBufferPointer(rebasing: octets[content]), depth: depth + 1, evidence)
        inner.search(as: kind)
        for var secret in inner.found {
            secret = FoundSecret(
                range: secret.range.lowerBound + content.lowerBound..<secret.range.upperBound + content.lowerBound,
                kind: secret.kind, isPlaceholder: secret.isPlaceholder, value: secret.value, quote: secret.quote,
                evidence: secret.evidence)
            found.append(secret)
        }
    }

    private static func parameter(_ name: String, of value: [UInt8]) -> [UInt8]? {
        for parameter in value.split(separator: ASCII.semicolon).dropFirst() {
            let parts = parameter.split(separator: ASCII.equals, maxSplits: 1)
            guard parts.count == 2, parts[0].filter({ !ASCII.isBlank($0) }).map(ASCII.lowercased) == Array(name.utf8) else {
                continue
            }
            return parts[1].filter { $0 != ASCII.quote }
        }
        return nil
    }

    private func next(_ text: [UInt8], from start: Int) -> Int? {
        var place = start
        while place + text.count <= octets.count {
            if octets[place] == text[0], octets.holds(text, at: place) { return place }
            place += 1
        }
        return nil
    }

    // MARK: Search by kind of body

    mutating func search(as kind: MediaKind) {
        switch kind {
        case .json, .jsonTexts: searchJSON()
        case .form: searchPairs(0..<octets.count, .form)
        case .xml: searchXML()
        case .multipart(let boundary): searchMultipart(boundary: boundary)
        case .text: searchText()
        case .other: break
        }
    }
}
