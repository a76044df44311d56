/// A token of a Kotlin or Java program, enough to distinguish calls from comments and strings.
enum SourceToken: Equatable {
    case name(Substring)
    /// The text of a string without its quotes; escapes stay unchanged.
    case text(String)
    case symbol(Character)

    static func tokens(of program: String) throws(PinFormatError) -> [SourceToken] {
        var tokens: [SourceToken] = []
        var rest = program[...]
        while let first = rest.first {
            if rest.hasPrefix("//") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = try afterComment(rest)
            } else if first == "\"" || first == "'" {
                tokens.append(.text(try text(&rest, in: rest.hasPrefix("\"\"\"") ? "\"\"\"" : String(first))))
            } else if first.isLetter || first == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                tokens.append(.name(name))
                rest = rest[name.endIndex...]
            } else {
                if !first.isWhitespace { tokens.append(.symbol(first)) }
                rest.removeFirst()
            }
        }
        return tokens
    }

    private static func afterComment(_ comment: Substring) throws(PinFormatError) -> Substring {
        var rest = comment.dropFirst(2)
        while !rest.isEmpty {
            if rest.hasPrefix("*/") { return rest.dropFirst(2) }
            // Inside a comment, Kotlin begins a nested comment at `/*`, which needs an end of its own. Java does not.
            if rest.hasPrefix("/*") { throw PinFormatError("a comment is nested in a comment") }
            rest.removeFirst()
        }
        throw PinFormatError("a comment is not closed")
    }

    private static func text(_ rest: inout Substring, in quote: String) throws(PinFormatError) -> String {
        var text = ""
        rest = rest.dropFirst(quote.count)
        while let first = rest.first, quote.count > 1 || !first.isNewline {
            if rest.hasPrefix(quote) {
                rest = rest.dropFirst(quote.count)
                return text
            }
            text.append(first)
            rest.removeFirst()
            if first == "\\", quote.count == 1, let escaped = rest.popFirst() { text.append(escaped) }
        }
        throw PinFormatError("a string is not closed")
    }
}
