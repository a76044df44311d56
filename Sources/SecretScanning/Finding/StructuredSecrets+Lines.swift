import HTTPMessage

/// Assignments at the beginning of a line: `password: x` in YAML, `export TOKEN=x` in shell scripts, `token = x` in INI files, and fields
/// of an HTTP message. Also reads YAML's lists, blocks and pairs of `name:` and `value:` lines.
extension StructuredSecrets {
    mutating func searchLines(_ style: AssignmentLines.Style) {
        var lines = AssignmentLines(octets, style)
        while let assignment = lines.next() {
            guard let evidence = assignment.evidence(evidence) else { continue }
            for value in assignment.values where lines.accepts(value, of: assignment, under: evidence) {
                note(value.range, evidence, value: value.unescaped)
            }
        }
    }
}

/// Reads the assignments of a text, line by line.
struct AssignmentLines {
    enum Style {
        case yaml
        case assignments
        /// Text of unknown format. Unless each line is an assignment, only values that look like secrets are accepted.
        case unknown
    }

    struct Value {
        var range: Range<Int>
        /// The value without quotes and escapes; `nil` if there are none.
        var unescaped: [UInt8]?
        var isQuoted = false
    }

    struct Assignment {
        let name: [UInt8]
        var values: [Value] = []
        /// Whether the assignment has the form that shells require: `NAME=value`.
        var isOfShell = false
        var isComment = false
        /// The value of the `name:` line, if this is the `value:` line of a pair.
        var label: [UInt8]?

        func evidence(_ evidence: ([UInt8], SecretNames.Site) -> SecretNames.Evidence?) -> SecretNames.Evidence? {
            evidence(name, .json) ?? label.flatMap { evidence($0, .json) }
        }
    }

    private let octets: UnsafeBufferPointer<UInt8>
    private let style: Style
    private let isConfiguration: Bool
    private var place = 0
    /// The end of the line at `place`, if `place` is within a line.
    private var lineEnd = -1
    /// How often the end of a line was searched for, for tests.
    private(set) var lineEnds = 0
    /// The `name:` line before this line, and the column of its name.
    private var label: (value: [UInt8], column: Int)?
    /// The name before a list or block that fills the next lines, and its column.
    private var open: (name: [UInt8], column: Int)?

    /// The maximum length of a name, and the number of blanks that it may have, in bytes.
    private static let nameLengthLimit = 64
    private static let blankLimit = 4
    /// The maximum length of a quoted value of several lines, in bytes.
    private static let quotedLengthLimit = 4096

    init(_ octets: UnsafeBufferPointer<UInt8>, _ style: Style) {
        self.octets = octets
        self.style = style
        isConfiguration = style != .unknown || Self.isConfiguration(octets)
    }

    // MARK: Reading

    mutating func next() -> Assignment? {
        while place < octets.count {
            let isContinued = place <= lineEnd
            if !isContinued {
                lineEnd = octets.end(from: place, limit: .max) { $0 != ASCII.lf }
                lineEnds += 1
            }
            let isCRLF = lineEnd > place && octets[lineEnd - 1] == ASCII.cr
            let line = place..<(isCRLF ? lineEnd - 1 : lineEnd)
            place = lineEnd + 1
            // `read` goes back into the line if more may follow there: another assignment, or a member in braces.
            if let assignment = read(line, isContinued) { return assignment }
        }
        return nil
    }

    private mutating func read(_ line: Range<Int>, _ isContinued: Bool) -> Assignment? {
        var start = skipBlanks(line.lowerBound, line)
        guard start < line.upperBound else { return nil }
        let isComment = octets[start] == UInt8(ascii: "#")
        if isComment { start = skipBlanks(octets.end(from: start, limit: 8) { $0 == UInt8(ascii: "#") }, line) }
        var isItem = false
        while start + 1 < line.upperBound, octets[start] == UInt8(ascii: "-"), ASCII.isBlank(octets[start + 1]) {
            isItem = true
            start = skipBlanks(start + 1, line)
        }
        let column = isContinued ? Self.continued : start - line.lowerBound
        if let open, isItem, column > open.column, let item = readItem(start..<line.upperBound, of: open.name) { return item }
        if !isItem { open = nil }
        for word in Self.words where octets.holds(word, at: start) { start = skipBlanks(start + word.count, line) }
        guard let name = name(in: start..<line.upperBound) else {
            readOn(behindWordFrom: start, in: line)
            return nil
        }
        if let label, label.column != column { self.label = nil }
        var assignment = readValue(name, in: line, column: column)
        assignment?.isComment = isComment
        return assignment
    }

    /// The column of a name that is not the first of its line.
    private static let continued = Int.max

    /// Continues behind the first word of a line, such as a command before its options. A YAML line has one name.
    private mutating func readOn(behindWordFrom start: Int, in line: Range<Int>) {
        guard style != .yaml else { return }
        let end = octets.end(from: start, limit: line.upperBound - start) { !ASCII.isBlank($0) }
        if end < line.upperBound { place = end }
    }

    private static let words = ["export ", "set ", "setx ", "declare -x ", "readonly ", "local ", "env ", "ENV ", "ARG "].map {
        Array($0.utf8)
    }

    private struct Name {
        let octets: [UInt8]
        let hasBlanks: Bool
        /// The position of `=` or `:`.
        let sign: Int
        /// The quote that begins before the name and ends after the value, as in `"TOKEN=x"`.
        let enclosing: UInt8?
    }

    /// The name of an assignment. A colon counts only before a blank or at the end of the line, as in YAML. A text of unknown format may
    /// omit the blank.
    private func name(in line: Range<Int>) -> Name? {
        var place = line.lowerBound
        var blanks = 0
        var enclosing: UInt8?
        let limit = min(line.upperBound, place + Self.nameLengthLimit)
        while place < limit {
            let octet = octets[place]
            let next = place + 1
            let isSign =
                octet == ASCII.equals
                || octet == ASCII.colon
                    && (next >= line.upperBound || ASCII.isBlank(octets[next])
                        || style == .unknown && octets[next] != ASCII.slash)
            if isSign {
                let name = octets[line.lowerBound..<place].filter {
                    !ASCII.isBlank($0) && $0 != ASCII.quote && $0 != Self.apostrophe
                }
                let hasBlanks = octets[line.lowerBound..<place].contains(where: ASCII.isBlank)
                return name.isEmpty ? nil : Name(octets: Array(name), hasBlanks: hasBlanks, sign: place, enclosing: enclosing)
            }
            if octet == ASCII.quote || octet == Self.apostrophe {
                if enclosing == nil { enclosing = octet } else if enclosing == octet { enclosing = nil }
            } else if ASCII.isBlank(octet) {
                blanks += 1
                if blanks > Self.blankLimit { return nil }
            } else if !ASCII.isWord(octet), !"-.$/@:".utf8.contains(octet) {
                return nil
            }
            place = next
        }
        return nil
    }

    private static let apostrophe = UInt8(ascii: "'")

    private mutating func readValue(_ name: Name, in line: Range<Int>, column: Int) -> Assignment? {
        let isColon = octets[name.sign] == ASCII.colon
        var start = skipBlanks(name.sign + 1, line)
        let hasBlanks = start > name.sign + 1 || ASCII.isBlank(octets[name.sign - 1])
        var assignment = Assignment(name: name.octets, isOfShell: !isColon && !hasBlanks && name.enclosing == nil)
        // A tag such as `!!str`, or an anchor, stands before a YAML value.
        if isColon, style == .yaml, start < line.upperBound, "!&".utf8.contains(octets[start]) {
            start = skipBlanks(octets.end(from: start, limit: line.upperBound - start) { !ASCII.isBlank($0) }, line)
        }
        guard start < line.upperBound else {
            if isColon { open = (name.octets, column) }
            return nil
        }
        if isColon, style != .unknown || isConfiguration {
            if isBlockMark(start..<line.upperBound) {
                assignment.values = readBlock(deeperThan: column)
                return assignment
            }
            if octets[start] == UInt8(ascii: "[") {
                assignment.values = readFlow(start + 1..<line.upperBound)
                return assignment
            }
            if octets[start] == UInt8(ascii: "{") {
                place = start + 1
                return nil
            }
        }
        var limit = line.upperBound
        if let quote = name.enclosing {
            limit = octets.end(from: start, limit: line.upperBound - start) { $0 != quote }
        }
        let (value, end) = readScalar(from: start, in: line.lowerBound..<limit, isOfShell: assignment.isOfShell)
        if end != line.upperBound { place = min(end + 1, octets.count) }
        if end > line.upperBound { lineEnd = -1 }
        assignment.values = [value]
        notePair(&assignment, value, column)
        return assignment
    }

    /// Remembers the value of a `name:` line, and gives it to the `value:` line of the same column.
    private mutating func notePair(_ assignment: inout Assignment, _ value: Value, _ column: Int) {
        switch JSONNesting.Part(ofMember: assignment.name) {
        case .label: label = (value.unescaped ?? Array(octets[value.range]), column)
        case .value: assignment.label = label?.value
        case nil: break
        }
    }

    /// An item of a YAML list, whose name stands before the list.
    private func readItem(_ range: Range<Int>, of name: [UInt8]) -> Assignment? {
        guard style != .assignments, !range.isEmpty, self.name(in: range) == nil else { return nil }
        return Assignment(name: name, values: [readScalar(from: range.lowerBound, in: range, isOfShell: false).value])
    }

    // MARK: Values

    /// - Returns: the value, and the position after it. The rest of the line is read as a line of its own: a shell allows several
    ///   assignments in one line, and YAML several members in braces.
    private func readScalar(from start: Int, in line: Range<Int>, isOfShell: Bool) -> (value: Value, end: Int) {
        let quote = octets[start]
        if quote == ASCII.quote || quote == UInt8(ascii: "'"), let end = endOfQuoted(from: start, in: line),
            end + 1 >= line.upperBound || !isOfShell || !isPartOfWord(octets[end + 1])
        {
            let content = start + 1..<end
            return (Value(range: content, unescaped: unquoted(content, quote), isQuoted: true), end + 1)
        }
        var end = start
        while end < line.upperBound {
            let octet = octets[end]
            if octet == UInt8(ascii: "#"), end > start, ASCII.isBlank(octets[end - 1]) { break }
            if isOfShell, !isPartOfWord(octet) { break }
            if isOfShell, octet == ASCII.backslash {
                end += 2
            } else if isOfShell, octet == ASCII.quote || octet == UInt8(ascii: "'"), let close = endOfQuoted(from: end, in: line)
            {
                end = close + 1
            } else if style == .yaml, isInBraces(line), ",}]".utf8.contains(octet) {
                break
            } else {
                end += 1
            }
        }
        end = min(end, line.upperBound)
        var last = end
        while last > start, ASCII.isBlank(octets[last - 1]) { last -= 1 }
        let text = octets[start..<last]
        let isEscaped = isOfShell && text.contains { "\\\"'".utf8.contains($0) }
        return (Value(range: start..<last, unescaped: isEscaped ? text.filter { !"\\\"'".utf8.contains($0) } : nil), end)
    }

    /// Whether the line is the content of braces: the byte before it is a brace or a comma.
    private func isInBraces(_ line: Range<Int>) -> Bool {
        line.lowerBound > 0 && "{,".utf8.contains(octets[line.lowerBound - 1])
    }

    private func isPartOfWord(_ octet: UInt8) -> Bool { octet > ASCII.space && !";&|<>()".utf8.contains(octet) }

    /// - Returns: the position of the closing quote. Unless the format is unknown, it may be on a later line.
    private func endOfQuoted(from start: Int, in line: Range<Int>) -> Int? {
        let quote = octets[start]
        let limit = style == .unknown ? line.upperBound : min(octets.count, start + Self.quotedLengthLimit)
        var end = start + 1
        while end < limit {
            if octets[end] == quote {
                // Two single quotes are one quote in YAML.
                guard quote == UInt8(ascii: "'"), style == .yaml, octets.holds([quote], at: end + 1) else { return end }
                end += 2
            } else {
                end += octets[end] == ASCII.backslash && quote == ASCII.quote ? 2 : 1
            }
        }
        return nil
    }

    private func unquoted(_ content: Range<Int>, _ quote: UInt8) -> [UInt8]? {
        if quote == ASCII.quote {
            return octets[content].contains(ASCII.backslash) ? DecodedText(jsonEscaped: octets, content).octets : nil
        }
        let text = Array(octets[content])
        return text.contains(quote) ? text.replacing([quote, quote], with: [quote]) : nil
    }

    /// The scalars of a YAML list in brackets, on one line.
    private func readFlow(_ range: Range<Int>) -> [Value] {
        var values: [Value] = []
        var place = range.lowerBound
        while place < range.upperBound, values.count < JSONNesting.stringLimit {
            place = octets.end(from: place, limit: range.upperBound - place) { ASCII.isBlank($0) || $0 == ASCII.comma }
            guard place < range.upperBound, octets[place] != UInt8(ascii: "]") else { break }
            let end = octets.end(from: place, limit: range.upperBound - place) { !",]".utf8.contains($0) }
            let (value, valueEnd) = readScalar(from: place, in: place..<end, isOfShell: false)
            values.append(value)
            place = max(valueEnd, end)
        }
        return values
    }

    /// Whether a value is the mark of a YAML block: `|` or `>`, with indicators.
    private func isBlockMark(_ range: Range<Int>) -> Bool {
        guard "|>".utf8.contains(octets[range.lowerBound]) else { return false }
        let end = octets.end(from: range.lowerBound + 1, limit: 2) { ASCII.isDigit($0) || "+-".utf8.contains($0) }
        return end == range.upperBound || ASCII.isBlank(octets[end])
    }

    /// The text of a YAML block: the following lines that are indented more than the name.
    private mutating func readBlock(deeperThan column: Int) -> [Value] {
        var content: Range<Int>?
        var lines: [[UInt8]] = []
        while place < octets.count {
            let end = octets.end(from: place, limit: .max) { $0 != ASCII.lf }
            let text = octets.end(from: place, limit: end - place) { ASCII.isBlank($0) || $0 == ASCII.cr }
            if text < end {
                guard text - place > column else { break }
                let last = octets[end - 1] == ASCII.cr ? end - 1 : end
                content = (content?.lowerBound ?? text)..<last
                lines.append(Array(octets[text..<last]))
            }
            place = end + 1
        }
        guard let content else { return [] }
        return [Value(range: content, unescaped: lines.count > 1 ? Array(lines.joined(separator: [ASCII.lf])) : nil)]
    }

    private func skipBlanks(_ place: Int, _ line: Range<Int>) -> Int {
        octets.end(from: min(place, line.upperBound), limit: max(line.upperBound - place, 0), while: ASCII.isBlank)
    }

    // MARK: Which values are secrets

    func accepts(_ value: Value, of assignment: Assignment, under evidence: SecretNames.Evidence) -> Bool {
        let text = value.unescaped ?? Array(octets[value.range])
        guard !text.isEmpty, !GeneratedValue.isExpansion(text) else { return false }
        let hasScheme = StructuredSecrets.scheme(of: text) != nil
        if isConfiguration, !assignment.isComment {
            // In a text of unknown format, several words are rather a message.
            return style != .unknown || value.isQuoted || hasScheme || !text.contains(where: ASCII.isBlank)
        }
        let isConstant = assignment.isOfShell && !assignment.name.contains { ASCII.isAlpha($0) && !ASCII.isUppercase($0) }
        if isConstant, !text.contains(where: { "(,;[{`".utf8.contains($0) }) { return true }
        // Program text ends lines with these bytes.
        if !value.isQuoted, let last = text.last, ",;(){}[]".utf8.contains(last) { return false }
        return GeneratedValue.isOne(text.dropFirst(StructuredSecrets.scheme(of: text) ?? 0), under: evidence)
    }

    /// Whether the text looks like a configuration file, and not like program text or prose: each line is an assignment, a
    /// comment, a heading in brackets, an item of a list, or blank.
    private static func isConfiguration(_ octets: UnsafeBufferPointer<UInt8>) -> Bool {
        var hasAssignment = false
        var reader = AssignmentLines(unread: octets)
        while reader.place < octets.count {
            let end = octets.end(from: reader.place, limit: .max) { $0 != ASCII.lf }
            var line = reader.place..<end
            while !line.isEmpty, octets[line.upperBound - 1] <= ASCII.space { line = line.lowerBound..<line.upperBound - 1 }
            let start = reader.skipBlanks(line.lowerBound, line)
            reader.place = end + 1
            guard start < line.upperBound, !"#[-".utf8.contains(octets[start]) else { continue }
            guard !"{(,;".utf8.contains(octets[line.upperBound - 1]), reader.isAssignment(start..<line.upperBound) else {
                return false
            }
            hasAssignment = true
        }
        return hasAssignment
    }

    private init(unread octets: UnsafeBufferPointer<UInt8>) {
        self.octets = octets
        style = .yaml
        isConfiguration = false
    }

    private func isAssignment(_ line: Range<Int>) -> Bool {
        let start = octets.holds(Self.words[0], at: line.lowerBound) ? line.lowerBound + Self.words[0].count : line.lowerBound
        guard let name = name(in: min(start, line.upperBound)..<line.upperBound) else { return false }
        return !name.hasBlanks || octets[name.sign] == ASCII.equals && start + name.octets.count + 1 == name.sign
    }
}
