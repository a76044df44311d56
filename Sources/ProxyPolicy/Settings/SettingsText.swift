/// Formats settings values for messages: short, and without characters that a terminal would interpret (T43 in docs/threats.md).
enum SettingsText {
    private static let longestQuote = 60

    static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(longestQuote) {
            switch scalar.value {
            case 0x0A: result += "\\n"
            case 0x0D: result += "\\r"
            case 0x00..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return text.unicodeScalars.count > longestQuote ? result + "…" : result
    }

    static func shown(_ scalar: SettingsScalar) -> String {
        scalar.isQuoted ? "the text \"\(quoted(scalar.text))\"" : "`\(quoted(scalar.text))`"
    }

    static func path(_ path: String, key: String) -> String {
        path.isEmpty ? quoted(key) : path + "." + quoted(key)
    }
}
