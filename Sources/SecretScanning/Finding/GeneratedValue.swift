import HTTPMessage

/// Decides whether a value looks like a secret, in texts where other values also follow the names of secrets. In program text,
/// `token = next` and `password: "Password"` are common, and are no secrets.
enum GeneratedValue {
    /// The minimum length in bytes of a value that has letters and digits.
    static let lengthFloor = 6

    /// - Parameter value: the unescaped value, without quotes.
    static func isOne(_ value: some Collection<UInt8>, under evidence: SecretNames.Evidence) -> Bool {
        let value = Array(value)
        // A value with spaces is a text for users. A value with a template's marks, or one that is a path, is not the secret itself.
        guard value.allSatisfy({ $0 > ASCII.space }), !isExpansion(value), !isPath(value) else { return false }
        let letters = value.count(where: ASCII.isAlpha)
        let digits = value.count(where: ASCII.isDigit)
        if letters > 0, digits > 0 { return value.count >= lengthFloor }
        guard evidence == .password else { return digits >= 16 }
        return digits == value.count ? digits >= 4 : value.count >= lengthFloor && letters > 0 && !isWord(value)
    }

    /// Whether a value consists of letters and of bytes that join words, as names do.
    static func isWord(_ value: some Collection<UInt8>) -> Bool {
        value.allSatisfy { ASCII.isAlpha($0) || "-_. /:#,;()[]<>".utf8.contains($0) }
    }

    /// Whether a program replaces the value, as in `$TOKEN`, `${token}`, `$(command)`, `{{ token }}` and `<%= token %>`.
    static func isExpansion(_ value: some Collection<UInt8>) -> Bool {
        let value = Array(value)
        for mark in marks where value.count >= mark.count {
            if (0...value.count - mark.count).contains(where: { value[$0..<$0 + mark.count].elementsEqual(mark) }) { return true }
        }
        guard value.first == UInt8(ascii: "$"), value.count > 1 else { return false }
        return value.dropFirst().allSatisfy { ASCII.isUppercase($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    private static let marks = ["${", "$(", "{{", "<%"].map { Array($0.utf8) }

    private static func isPath(_ value: [UInt8]) -> Bool {
        if value.starts(with: "http".utf8), value.contains(ASCII.colon) { return true }
        guard let first = value.first, "/.#".utf8.contains(first) else { return false }
        return !value.contains { ASCII.isUppercase($0) || "+=".utf8.contains($0) }
    }
}
