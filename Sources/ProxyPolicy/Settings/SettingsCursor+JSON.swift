import HTTPMessage

extension SettingsCursor {
    /// The value as JSON text. An unquoted scalar that is a JSON number, `true`, `false` or `null` keeps that type; any other scalar
    /// becomes a string.
    func json(problems: inout SettingsProblems) -> [UInt8]? {
        var text: [UInt8] = []
        guard writeJSON(into: &text, depth: 0, problems: &problems) else { return nil }
        guard text.count <= PolicyLimits.jsonLength else {
            report("a value must have at most \(PolicyLimits.jsonLength) bytes as JSON", to: &problems)
            return nil
        }
        return text
    }

    private func writeJSON(into text: inout [UInt8], depth: Int, problems: inout SettingsProblems) -> Bool {
        if depth > PolicyLimits.jsonDepth {
            report("values are nested more than \(PolicyLimits.jsonDepth) levels deep", to: &problems)
            return false
        }
        switch node.value {
        case .scalar(let scalar):
            if scalar.isNull {
                text.append("null")
            } else if !scalar.isQuoted, Self.isLiteral(scalar.text) || Self.isNumber(Array(scalar.text.utf8)) {
                text.append(contentsOf: scalar.text.utf8)
            } else {
                Self.write(scalar.text, into: &text)
            }
            return true
        case .sequence:
            text.append("[")
            var isFirst = true
            for item in list(problems: &problems) ?? [] {
                if !isFirst { text.append(",") }
                isFirst = false
                guard item.writeJSON(into: &text, depth: depth + 1, problems: &problems) else { return false }
            }
            text.append("]")
            return true
        case .mapping:
            guard let entries = entries(problems: &problems) else { return false }
            text.append("{")
            for (place, entry) in entries.enumerated() {
                if place > 0 { text.append(",") }
                Self.write(entry.key, into: &text)
                text.append(":")
                guard entry.value.writeJSON(into: &text, depth: depth + 1, problems: &problems) else { return false }
            }
            text.append("}")
            return true
        }
    }

    private static func isLiteral(_ text: String) -> Bool { text == "true" || text == "false" }

    /// Whether `text` is a JSON number (RFC 8259 §6).
    private static func isNumber(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        func digits() -> Int {
            let count = rest.prefix(while: ASCII.isDigit).count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let count = digits()
        if count == 0 || startsWithZero && count > 1 { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            if digits() == 0 { return false }
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            if digits() == 0 { return false }
        }
        return rest.isEmpty
    }

    private static func write(_ string: String, into text: inout [UInt8]) {
        text.append("\"")
        text.append(escapingForJSON: string)
        text.append("\"")
    }
}
