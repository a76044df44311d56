import HTTPMessage

/// Quoted values after a name, in program text: JavaScript, JSON5, GraphQL and others.
///
/// The search does not follow the quotes of the text from its beginning: an apostrophe in a comment or in a regular expression would hide
/// all that follows. It looks at each `:` and `=`, at the name before it, and at the quote after it.
extension StructuredSecrets {
    /// Which values under the name of a secret are secrets.
    enum AcceptedValues {
        case any
        /// Any quoted value, but no number: in YAML and in shell scripts, a value that begins like a number may go on.
        case quoted
        /// Only values that look like secrets (`GeneratedValue`).
        case generated
    }

    /// The maximum length of a name, in bytes.
    static let nameLengthLimit = 128
    /// The maximum number of blanks between a name, its sign and its value.
    private static let blankLimit = 64

    mutating func searchLiterals(_ range: Range<Int>, _ accepted: AcceptedValues) {
        var ends = QuoteEnds()
        var place = range.lowerBound
        while place < range.upperBound {
            guard octets[place] == ASCII.colon || octets[place] == ASCII.equals,
                let end = searchLiteral(behind: place, in: range, accepted, &ends)
            else {
                place += 1
                continue
            }
            place = end
        }
    }

    /// - Parameter sign: the position of `:` or `=`.
    /// - Returns: the position after the value; `nil` if there is no value of a secret.
    private mutating func searchLiteral(
        behind sign: Int, in range: Range<Int>, _ accepted: AcceptedValues, _ ends: inout QuoteEnds
    ) -> Int? {
        let start = endOfBlanks(from: sign + 1, before: range.upperBound)
        guard start < range.upperBound, beginsLiteral(start, accepted), let name = name(before: sign, from: range.lowerBound),
            let evidence = evidence(name, .json)
        else { return nil }
        guard octets[start] == UInt8(ascii: "[") else {
            return noteLiteral(from: start, before: range.upperBound, evidence, accepted, &ends)
        }
        // A list of values.
        var place = start + 1
        while true {
            place = octets.end(from: place, limit: range.upperBound - place) { ASCII.isBlank($0) || "\r\n,".utf8.contains($0) }
            guard place < range.upperBound, beginsLiteral(place, accepted), octets[place] != UInt8(ascii: "["),
                let end = noteLiteral(from: place, before: range.upperBound, evidence, accepted, &ends)
            else { return place }
            place = end
        }
    }

    private func beginsLiteral(_ place: Int, _ accepted: AcceptedValues) -> Bool {
        if "\"'`[".utf8.contains(octets[place]) { return true }
        return accepted == .any && (ASCII.isDigit(octets[place]) || octets[place] == UInt8(ascii: "-"))
    }

    /// - Returns: the position after the value; `nil` if its end is missing.
    private mutating func noteLiteral(
        from start: Int, before limit: Int, _ evidence: SecretNames.Evidence, _ accepted: AcceptedValues, _ ends: inout QuoteEnds
    ) -> Int? {
        guard "\"'`".utf8.contains(octets[start]) else {
            let end = octets.end(from: start, limit: limit - start) { ASCII.isDigit($0) || "+-.eE".utf8.contains($0) }
            if evidence == .password, end == limit || isBlankOrBreak(octets[end]) || ",;)}]".utf8.contains(octets[end]) {
                note(start..<end, evidence, quote: [ASCII.quote])
            }
            return max(end, start + 1)
        }
        guard let (content, end) = ends.content(in: octets, from: start, before: limit) else { return nil }
        let value = DecodedText(jsonEscaped: octets, content).octets
        guard !GeneratedValue.isExpansion(value) else { return end }
        let rest = value.dropFirst(Self.scheme(of: value) ?? 0)
        if accepted != .generated || GeneratedValue.isOne(rest, under: evidence) { note(content, evidence, value: value) }
        return end
    }

    /// The name before a sign: a word, a quoted name, or a quoted name in brackets.
    /// - Returns: `nil` if the sign is part of an operator such as `==` or `=>`, or if there is no name.
    private func name(before sign: Int, from start: Int) -> [UInt8]? {
        var end = sign
        if octets[sign] == ASCII.equals, end > start {
            if "=!<>".utf8.contains(octets[end - 1]) { return nil }
            if octets[end - 1] == ASCII.colon { end -= 1 }
        }
        let floor = max(start, end - Self.blankLimit)
        while end > floor, isBlankOrBreak(octets[end - 1]) { end -= 1 }
        if end > start, octets[end - 1] == UInt8(ascii: "]") { end -= 1 }
        guard end > start else { return nil }
        let quote = octets[end - 1]
        let isQuoted = "\"'`".utf8.contains(quote)
        if isQuoted { end -= 1 }
        var first = end
        while first > start, end - first < Self.nameLengthLimit {
            let octet = octets[first - 1]
            guard isQuoted ? octet != quote && octet != ASCII.lf : ASCII.isWord(octet) || "-$.".utf8.contains(octet) else {
                break
            }
            first -= 1
        }
        return first < end ? Array(octets[first..<end]) : nil
    }

    func isBlankOrBreak(_ octet: UInt8) -> Bool { ASCII.isBlank(octet) || octet == ASCII.lf || octet == ASCII.cr }

    private func endOfBlanks(from start: Int, before limit: Int) -> Int {
        min(octets.end(from: start, limit: Self.blankLimit, while: isBlankOrBreak), limit)
    }

    // MARK: GraphQL

    /// Whether the text is a GraphQL document with an operation or a fragment first. A document that begins with `{` is `isLooseJSON`.
    var isGraphQL: Bool {
        var place = 0
        // Comments and blanks before the first word.
        while place < octets.count {
            place = octets.end(from: place, limit: octets.count) { isBlankOrBreak($0) || $0 == ASCII.comma }
            guard place < octets.count, octets[place] == UInt8(ascii: "#") else { break }
            place = octets.end(from: place, limit: octets.count) { $0 != ASCII.lf }
        }
        let end = octets.end(from: place, limit: 16, while: ASCII.isAlpha)
        guard Self.operations.contains(where: { $0.elementsEqual(octets[place..<end]) }) else { return false }
        let next = octets.end(from: end, limit: 1 << 10) { isBlankOrBreak($0) || ASCII.isWord($0) }
        return next < octets.count && "{(@".utf8.contains(octets[next])
    }

    private static let operations = ["query", "mutation", "subscription", "fragment"].map { Array($0.utf8) }
}

/// Finds the ends of quoted values. Remembers up to which position a triple quote or a backtick has no end. Otherwise each of
/// many openings without an end would cost a search.
struct QuoteEnds {
    /// For each kind of quote: no end was found after this position.
    private var endless: [[UInt8]: Int] = [:]
    /// The number of bytes that were read, for tests.
    private(set) var work = 0

    /// - Parameter start: the position of a quote. Three quotes enclose text of several lines, as in GraphQL. A backtick encloses text of
    ///   several lines too; other quotes end on the same line.
    /// - Returns: the content and the position after the closing quote; `nil` if the end is missing.
    mutating func content(in octets: UnsafeBufferPointer<UInt8>, from start: Int, before limit: Int) -> (Range<Int>, end: Int)? {
        let quote = octets[start]
        let triple = [quote, quote, quote]
        let closing = quote != UInt8(ascii: "`") && octets.holds(triple, at: start) ? triple : [quote]
        let hasLines = closing.count == 3 || quote == UInt8(ascii: "`")
        let content = start + closing.count
        if let place = endless[closing], place <= start { return nil }
        var end = content
        while end < limit, !octets.holds(closing, at: end) {
            work += 1
            if !hasLines, octets[end] == ASCII.lf { return nil }
            end += octets[end] == ASCII.backslash ? 2 : 1
        }
        guard end < limit, end + closing.count <= limit else {
            if hasLines { endless[closing] = start }
            return nil
        }
        return (content..<end, end + closing.count)
    }
}
