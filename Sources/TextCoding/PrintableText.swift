/// The text for use in a message: shortened, and without control characters, since messages go to a terminal (threat T43).
package func printable(_ text: String, limit: Int = 60) -> String {
    let scalars = text.unicodeScalars.prefix(limit).map { $0.isControl ? "\u{FFFD}" : $0 }
    let clean = String(String.UnicodeScalarView(scalars))
    return text.unicodeScalars.count > limit ? clean + "…" : clean
}

extension Unicode.Scalar {
    /// C0, DEL, C1, line and paragraph separators, and the characters that change the direction of text.
    package var isControl: Bool {
        value < 0x20 || (0x7F...0x9F).contains(value) || (0x2028...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    }
}
