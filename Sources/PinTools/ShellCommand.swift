/// The words of a simple command of a POSIX shell, without quotes. Expansions are not performed, and redirections are omitted.
struct ShellCommand {
    private(set) var words: [String] = []

    /// Every command of a script, without comments.
    static func commands(of script: String) throws(PinFormatError) -> [ShellCommand] {
        var reader = Reader(rest: script[...])
        while !reader.rest.isEmpty { try reader.step() }
        reader.endCommand()
        return reader.commands
    }

    private struct Reader {
        var rest: Substring
        var commands: [ShellCommand] = []
        private var command = ShellCommand()
        private var word: String?
        /// Whether the next word is the file name of a redirection.
        private var isRedirected = false

        init(rest: Substring) { self.rest = rest }

        mutating func step() throws(PinFormatError) {
            let character = rest.removeFirst()
            switch character {
            case "'", "\"": try quoted(by: character)
            case "\\":
                guard let escaped = rest.popFirst() else { throw PinFormatError("the file ends with a backslash") }
                if !escaped.isNewline { extendWord(by: escaped) }
            case "#" where word == nil: rest = rest.drop { !$0.isNewline }
            case "<", ">":
                if word?.allSatisfy(\.isNumber) == true { word = nil }
                endWord()
                rest = rest.drop { "<>&|".contains($0) }
                isRedirected = true
            case ";", "&", "|", "(", ")", "`": endCommand()
            case _ where character.isNewline: endCommand()
            case _ where character.isWhitespace: endWord()
            default: extendWord(by: character)
            }
        }

        private mutating func quoted(by quote: Character) throws(PinFormatError) {
            if word == nil { word = "" }
            while let character = rest.popFirst() {
                if character == quote { return }
                if character == "\\", quote == "\"", let next = rest.first, "\"\\$`\n\r\n".contains(next) {
                    rest.removeFirst()
                    if !next.isNewline { extendWord(by: next) }
                } else {
                    extendWord(by: character)
                }
            }
            throw PinFormatError("a quoted string is not closed")
        }

        private mutating func extendWord(by character: Character) {
            if word == nil { word = "" }
            word?.append(character)
        }

        private mutating func endWord() {
            guard let ended = word else { return }
            word = nil
            if !isRedirected { command.words.append(ended) }
            isRedirected = false
        }

        mutating func endCommand() {
            endWord()
            isRedirected = false
            if !command.words.isEmpty { commands.append(command) }
            command = ShellCommand()
        }
    }
}
