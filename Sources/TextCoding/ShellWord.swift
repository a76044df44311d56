/// Text as one word of a command line for a POSIX shell.
package enum ShellWord {
    /// The text in single quotes, within which no character has a special meaning for the shell. A quote in the text is written between
    /// two quoted parts, after a backslash.
    package static func quoted(_ text: String) -> String {
        var word = "'"
        // Compares scalars, because a quote with a combining mark is a single `Character` that is not equal to a quote.
        for scalar in text.unicodeScalars {
            if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
        }
        return word + "'"
    }

    /// The unchanged text if it has only ASCII letters, digits and `/._-:`, otherwise the text in quotes.
    package static func of(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            default: (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || "/._-:".utf8.contains(byte)
            }
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }
}
