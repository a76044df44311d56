/// A directive of a squid.conf with the line that it starts on.
struct SquidDirective: Equatable {
    let line: Int
    let words: [String]

    /// Splits a file into directives. A backslash at the end of a line continues it; `#` begins a comment.
    static func all(in text: String) -> [SquidDirective] {
        var directives: [SquidDirective] = []
        var words: [String] = []
        var start = 0
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var rest = Substring(line.last == "\r" ? line.dropLast() : line)
            if words.isEmpty { start = index + 1 }
            let continues = rest.last == "\\"
            if continues { rest = rest.dropLast() }
            for word in rest.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
                if word.first == "#" { break }
                words.append(String(word))
            }
            if continues { continue }
            if !words.isEmpty { directives.append(SquidDirective(line: start, words: words)) }
            words = []
        }
        if !words.isEmpty { directives.append(SquidDirective(line: start, words: words)) }
        return directives
    }
}
