import HTTPMessage

extension StructuredSecrets {
    /// Reads members of objects in one or several JSON texts, such as JSON lines and event streams. A truncated text is searched up to
    /// its end.
    ///
    /// Also reads objects that have a name and a value as two members, such as `{"name":"password","value":"x"}`, and arrays of two
    /// strings, such as `["Authorization","Bearer x"]`.
    mutating func searchJSON() {
        let limit = octets.count
        var nesting = JSONNesting()
        var place = 0
        while place < limit {
            switch octets[place] {
            case UInt8(ascii: "{"): nesting.open(JSONNesting.Container())
            case UInt8(ascii: "["): nesting.open(JSONNesting.Container(isArray: true))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let closed = nesting.close() { settle(closed, in: &nesting) }
            case ASCII.comma: nesting.noteComma()
            case ASCII.quote:
                place = readString(from: place, before: limit, &nesting)
                continue
            default: break
            }
            place += 1
        }
        while let rest = nesting.close() { settle(rest, in: &nesting) }
    }

    /// Whether a text that begins with an object has an unquoted or single-quoted name or string first, as in JSON5 and GraphQL.
    var isLooseJSON: Bool {
        let opening = octets.prefix { ASCII.isBlank($0) || "\r\n{[\u{FEFF}".utf8.contains($0) }
        guard opening.contains(UInt8(ascii: "{")), opening.count < octets.count else { return false }
        let first = octets[opening.count]
        return ASCII.isAlpha(first) || "'_$/#".utf8.contains(first)
    }

    /// - Parameter quote: the position of the string's first quote.
    /// - Returns: the position to continue from.
    private mutating func readString(from quote: Int, before limit: Int, _ nesting: inout JSONNesting) -> Int {
        let content = quote + 1..<endOfString(from: quote + 1, before: limit)
        let behind = content.upperBound + 1
        let colon = endOfBlanks(from: behind, before: limit)
        if colon < limit, octets[colon] == ASCII.colon { return readMember(content, from: colon + 1, before: limit, &nesting) }
        switch nesting.role(ofString: content) {
        case .secret(let evidence): note(content, evidence, value: DecodedText(jsonEscaped: octets, content).octets)
        case .label, .text: searchString(content)
        }
        return min(behind, limit)
    }

    /// - Returns: the position to continue from: after the value if it is a secret, otherwise before the value.
    private mutating func readMember(_ content: Range<Int>, from place: Int, before limit: Int, _ nesting: inout JSONNesting)
        -> Int
    {
        let name = unescaped(content)
        let start = endOfBlanks(from: place, before: limit)
        guard start < limit else { return start }
        let evidence = evidence(name, .json)
        switch octets[start] {
        case ASCII.quote:
            if let evidence { return noteString(from: start, before: limit, evidence) }
            nesting.expect(JSONNesting.Part(ofMember: name))
        case UInt8(ascii: "["):
            let isOfPair = JSONNesting.Part(ofMember: name) == .value
            nesting.open(JSONNesting.Container(isArray: true, evidence: evidence, hasValuesOfPair: isOfPair))
            return start + 1
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let end = octets.end(from: start, limit: limit - start) { ASCII.isDigit($0) || "+-.eE".utf8.contains($0) }
            if evidence == .password { note(start..<end, .password, quote: [ASCII.quote]) }
            if JSONNesting.Part(ofMember: name) == .value { nesting.noteValue(start..<end) }
            return end
        default: break
        }
        return start
    }

    private mutating func noteString(from quote: Int, before limit: Int, _ evidence: SecretNames.Evidence) -> Int {
        let content = quote + 1..<endOfString(from: quote + 1, before: limit)
        note(content, evidence, value: DecodedText(jsonEscaped: octets, content).octets)
        return min(content.upperBound + 1, limit)
    }

    /// Notes the values of a pair, now that the object or array is complete: a value may stand before its name.
    private mutating func settle(_ closed: JSONNesting.Container, in nesting: inout JSONNesting) {
        if closed.hasValuesOfPair { for string in closed.strings { nesting.noteValue(string) } }
        if closed.isArray {
            if closed.evidence == nil { settlePair(closed, isAmongPairs: nesting.isInArray) }
            return
        }
        guard let label = closed.label, let evidence = evidence(unescaped(label), .json) else { return }
        for value in closed.values {
            let isNumber = octets[value.lowerBound - 1] != ASCII.quote
            if isNumber, evidence != .password { continue }
            note(
                value, evidence, value: isNumber ? nil : DecodedText(jsonEscaped: octets, value).octets,
                quote: isNumber ? [ASCII.quote] : [])
        }
    }

    /// Notes the second of two strings. An array of two strings may also be a list of names, such as `["password","token"]`: the second
    /// string must therefore look like a secret.
    private mutating func settlePair(_ closed: JSONNesting.Container, isAmongPairs: Bool) {
        guard closed.strings.count == 2, closed.commas == 1, let evidence = evidence(unescaped(closed.strings[0]), .json)
        else { return }
        let value = unescaped(closed.strings[1])
        let rest = value.dropFirst(Self.scheme(of: value) ?? 0)
        guard
            rest.count < value.count || GeneratedValue.isOne(rest, under: evidence)
                || isAmongPairs && !GeneratedValue.isWord(rest)
        else { return }
        note(closed.strings[1], evidence, value: value)
    }

    /// Searches within a string that is not a secret itself: it may contain JSON, a URL or an escaped token.
    private mutating func searchString(_ content: Range<Int>) {
        guard octets[content].contains(ASCII.backslash) else { return }
        search(DecodedText(jsonEscaped: octets, content), quote: "\\\"")
    }

    private func unescaped(_ content: Range<Int>) -> [UInt8] {
        octets[content].contains(ASCII.backslash) ? DecodedText(jsonEscaped: octets, content).octets : Array(octets[content])
    }

    private func endOfString(from start: Int, before limit: Int) -> Int {
        var end = start
        while end < limit, octets[end] != ASCII.quote { end += octets[end] == ASCII.backslash ? 2 : 1 }
        return min(end, limit)
    }

    private func endOfBlanks(from start: Int, before limit: Int) -> Int {
        min(octets.end(from: start, limit: 1 << 10) { ASCII.isBlank($0) || $0 == ASCII.lf || $0 == ASCII.cr }, limit)
    }
}

/// The objects and arrays that enclose a position of a JSON text. Both their number and the number of values that each remembers are
/// limited. Deeper containers are counted only.
struct JSONNesting {
    static let depthLimit = 256
    /// The maximum number of strings that an object or array remembers.
    static let stringLimit = 64

    struct Container {
        var isArray = false
        /// How strongly the array's name indicates that its strings are secrets.
        var evidence: SecretNames.Evidence?
        /// Whether the array is the value of an object with a name and a value.
        var hasValuesOfPair = false
        var expected: Part?
        /// The name in an object with a name and a value, without its quotes.
        var label: Range<Int>?
        /// The values of such an object.
        var values: [Range<Int>] = []
        /// The strings in an array.
        var strings: [Range<Int>] = []
        var commas = 0
    }

    /// A member of an object with a name and a value.
    enum Part {
        case label, value

        init?(ofMember name: [UInt8]) {
            switch String(decoding: SecretNames.normalised(name), as: UTF8.self) {
            case "name", "key", "id", "field", "header", "parameterkey", "parametername": self = .label
            case "value", "values", "content", "parametervalue": self = .value
            default: return nil
            }
        }
    }

    enum Role {
        case secret(SecretNames.Evidence)
        case label, text
    }

    private var containers: [Container] = []
    private var deeper = 0

    /// Whether the innermost container is an array.
    var isInArray: Bool { deeper == 0 && containers.last?.isArray ?? false }

    mutating func open(_ container: Container) {
        if containers.count < Self.depthLimit { containers.append(container) } else { deeper += 1 }
    }

    mutating func close() -> Container? {
        guard deeper == 0 else {
            deeper -= 1
            return Container()
        }
        return containers.popLast()
    }

    mutating func noteComma() {
        guard deeper == 0, !containers.isEmpty else { return }
        containers[containers.count - 1].commas += 1
        containers[containers.count - 1].expected = nil
    }

    mutating func expect(_ part: Part?) {
        if deeper == 0, !containers.isEmpty { containers[containers.count - 1].expected = part }
    }

    /// Remembers a value of an object with a name and a value.
    mutating func noteValue(_ range: Range<Int>) {
        guard deeper == 0, !containers.isEmpty, containers[containers.count - 1].values.count < Self.stringLimit else { return }
        containers[containers.count - 1].values.append(range)
    }

    /// The role of a string that is not the name of a member. Remembers the string if it is part of a pair.
    mutating func role(ofString content: Range<Int>) -> Role {
        guard deeper == 0, !containers.isEmpty else { return .text }
        let last = containers.count - 1
        if let evidence = containers[last].evidence { return .secret(evidence) }
        switch containers[last].expected {
        case .label:
            if containers[last].label == nil { containers[last].label = content }
            return .label
        case .value: noteValue(content)
        case nil where containers[last].isArray:
            if containers[last].strings.count < Self.stringLimit { containers[last].strings.append(content) }
        case nil: break
        }
        return .text
    }
}
