import TextCoding

/// Writes shown values as YAML that `YAMLReader` reads back unchanged.
package enum YAMLWriter {
    /// The settings as nested mappings, in the schema's order.
    package static func write(_ settings: LarderSettings) -> String {
        write(nested(SettingsSchema.settings.map { ($0.parts[...], $0.show(settings)) }), indentation: 0)
    }

    /// One value on one line, in flow style.
    static func inline(_ value: ShownValue) -> String {
        switch value {
        case .plain(let text): isPlain(text) ? text : JSONText.quoted(text)
        case .text(let text): isUnmistakable(text) ? text : JSONText.quoted(text)
        case .list(let values): "[" + values.map(inline).joined(separator: ", ") + "]"
        case .mapping(let entries): "{" + entries.map { "\(key($0.key)): \(inline($0.value))" }.joined(separator: ", ") + "}"
        }
    }

    private static func nested(_ settings: [(parts: ArraySlice<String>, value: ShownValue)]) -> [(key: String, value: ShownValue)]
    {
        var entries: [(key: String, value: ShownValue)] = []
        var seen: Set<String> = []
        for (parts, value) in settings {
            guard let first = parts.first, seen.insert(first).inserted else { continue }
            if parts.count == 1 {
                entries.append((first, value))
            } else {
                let below = settings.filter { $0.parts.first == first }.map { ($0.parts.dropFirst(), $0.value) }
                entries.append((first, .mapping(nested(below))))
            }
        }
        return entries
    }

    package static func write(_ entries: [(key: String, value: ShownValue)], indentation: Int) -> String {
        entries.map { entry in
            String(repeating: "  ", count: indentation) + "\(key(entry.key)):" + block(entry.value, indentation: indentation + 1)
        }.joined()
    }

    /// The text that follows a key's colon or a list's dash, up to the end of the line.
    private static func block(_ value: ShownValue, indentation: Int) -> String {
        let space = String(repeating: "  ", count: indentation)
        switch value {
        case .mapping(let entries) where !entries.isEmpty:
            return "\n" + write(entries, indentation: indentation)
        case .list(let values) where values.contains(where: \.isNested):
            return "\n" + values.map { "\(space)-" + item($0, indentation: indentation + 1) }.joined()
        default:
            return " \(inline(value))\n"
        }
    }

    /// The first entry of a mapping in a list is on the dash's line.
    private static func item(_ value: ShownValue, indentation: Int) -> String {
        guard case .mapping(let entries) = value, !entries.isEmpty else { return block(value, indentation: indentation) }
        return " " + write(entries, indentation: indentation).drop { $0 == " " }
    }

    private static func key(_ text: String) -> String { isUnmistakable(text) ? text : JSONText.quoted(text) }

    /// Whether the text can be written without quotes in every place, so that it is read back as the same text.
    private static func isUnmistakable(_ text: String) -> Bool {
        isPlain(text) && text.contains { $0.isLetter || $0 == "/" || $0 == ":" || $0 == "." }
            && !["true", "false", "null", "yes", "no", "on", "off", "~"].contains(text.lowercased())
    }

    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last else { return false }
        let isSafe = text.utf8.allSatisfy { byte in
            (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || [0x2D, 0x2E, 0x2F, 0x3A, 0x5F, 0x2B, 0x25].contains(byte)
        }
        // A single dash, a colon at the end or a leading indicator has a meaning in YAML.
        return isSafe && last != 0x3A && first != 0x3A && first != 0x25
            && (first != 0x2D || text.utf8.count == 1 || text.utf8.dropFirst().first != 0x2D)
            && text != "-"
    }
}

extension ShownValue {
    fileprivate var isNested: Bool {
        switch self {
        case .plain, .text: false
        case .list(let values): values.contains(where: \.isNested)
        case .mapping: true
        }
    }
}
