import HTTPMessage

/// A directive of a squid.conf, with the number of the line on which it starts.
struct SquidDirective: Equatable {
    let line: Int
    let words: [String]
    /// Whether the file ends before the directive does, so that squid ignores the directive.
    var isCut = false

    /// Splits a file into directives, as squid does. A backslash at the end of a line joins the next line to this one; the blanks
    /// before the backslash are removed. Empty lines and comments within such a directive do not end it. `#` at the beginning of a word
    /// begins a comment.
    static func all(in text: String) -> [SquidDirective] {
        var directives: [SquidDirective] = []
        var joined: [UInt8] = []
        var start = 0
        var isOpen = false
        var number = 0
        for line in text.utf8.split(separator: ASCII.lf, omittingEmptySubsequences: false) {
            number += 1
            let rest = line.prefix { $0 != ASCII.cr }.drop(while: isBlank)
            if rest.isEmpty || rest.first == hash { continue }
            if !isOpen { start = number }
            joined += rest
            isOpen = joined.last == ASCII.backslash
            if isOpen {
                joined.removeLast()
                continue
            }
            append(joined, line: start, to: &directives)
            joined.removeAll(keepingCapacity: true)
        }
        if isOpen { append(joined, line: start, isCut: true, to: &directives) }
        return directives
    }

    private static func append(_ bytes: [UInt8], line: Int, isCut: Bool = false, to directives: inout [SquidDirective]) {
        var words: [String] = []
        for word in bytes.split(whereSeparator: isBlank) {
            if word.first == hash { break }
            words.append(String(decoding: word, as: UTF8.self))
        }
        if !words.isEmpty { directives.append(SquidDirective(line: line, words: words, isCut: isCut)) }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }
    private static let hash = UInt8(ascii: "#")
}
