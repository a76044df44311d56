import HTTPMessage

/// The name under which a response would be saved: from Content-Disposition (RFC 6266 §4.3), else the last path segment, else
/// `download`. The name is made safe, so it is a valid file name in any folder.
public enum SuggestedName {
    /// Maximum length of a name, in bytes of UTF-8.
    public static let lengthLimit = 200
    static let fallback = "download"

    /// A name for this response's content; never empty, never a path.
    public static func name(for fields: SessionFields, _ uri: TargetURI) -> String {
        if let disposition = fields["Content-Disposition"], let named = fromDisposition(disposition), let safe = safe(named) {
            return safe
        }
        let last = uri.path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        return decoded(Array(last.utf8)).flatMap(safe) ?? fallback
    }

    /// The name in Content-Disposition; `filename*` is preferred to `filename`. Parameters are parsed leniently; `safe` rejects a
    /// value that is not a safe file name.
    static func fromDisposition(_ value: String) -> String? {
        let parameters = parameters(of: value)
        if let extended = parameters.first(where: { $0.name == "filename*" }), let name = fromExtended(extended.value) {
            return name
        }
        return parameters.first { $0.name == "filename" }?.value
    }

    /// Decodes a value such as `UTF-8''a%20b` (RFC 8187 §3.2). Charsets other than UTF-8 are not supported.
    private static func fromExtended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return decoded(Array(parts[2].utf8))
    }

    private static func parameters(of value: String) -> [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        var rest = Array(value.unicodeScalars)[...]
        guard let start = rest.firstIndex(of: ";") else { return [] }
        rest = rest[start...]
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let end = rest.firstIndex { $0 == "=" || $0 == ";" } ?? rest.endIndex
            let name = text(rest[..<end]).lowercased().filter { $0 != " " && $0 != "\t" }
            rest = rest[end...]
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let value: String
            if rest.first == "\"" {
                value = takeQuoted(&rest)
            } else {
                let end = rest.firstIndex(of: ";") ?? rest.endIndex
                value = text(rest[..<end])
                rest = rest[end...]
            }
            found.append((name, value))
            rest = rest.drop { $0 != ";" }
        }
        return found
    }

    private static func takeQuoted(_ rest: inout ArraySlice<Unicode.Scalar>) -> String {
        var value: [Unicode.Scalar] = []
        rest = rest.dropFirst()
        while let scalar = rest.popFirst(), scalar != "\"" {
            if scalar == "\\", let escaped = rest.popFirst() { value.append(escaped) } else { value.append(scalar) }
        }
        return text(value[...])
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    /// The percent-decoded text; `nil` if it is not UTF-8.
    private static func decoded(_ bytes: [UInt8]) -> String? {
        String(validating: PercentEncoding.decode(bytes.span), as: UTF8.self)
    }

    /// Whether the name is safe in any folder without changes.
    package static func isSafe(_ name: String) -> Bool { safe(name) == name }

    /// The last segment of a text that may be a path, without characters that hide the file, mislead a reader, or have a special
    /// meaning to a system.
    static func safe(_ name: String) -> String? {
        let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? []
        let kept = last.filter { !isForbidden($0) }
        var scalars = kept.drop { $0 == "." || $0 == " " }
        while let end = scalars.last, end == "." || end == " " { scalars.removeLast() }
        var text = String(String.UnicodeScalarView(scalars))
        if text.isEmpty { return nil }
        // `rm *` in the folder would read a name such as `-rf` as options.
        if text.hasPrefix("-") { text = "_" + text.dropFirst() }
        return shortened(text)
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F: true
        // Marks that change the text direction, and line separators.
        case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029, 0xFEFF: true
        case 0x3A, 0x2A, 0x3F, 0x22, 0x3C, 0x3E, 0x7C: true
        default: false
        }
    }

    /// The name, shortened if it is too long; a short extension is kept.
    private static func shortened(_ name: String) -> String {
        if name.utf8.count <= lengthLimit { return name }
        let (stem, ending) = split(name)
        return cut(stem, to: lengthLimit - ending.utf8.count) + ending
    }

    private static func cut(_ text: String, to limit: Int) -> String {
        var result = ""
        for character in text {
            if result.utf8.count + character.utf8.count > limit { break }
            result.append(character)
        }
        return result
    }

    private static func split(_ name: String) -> (stem: String, ending: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 16 else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }

    /// The name itself for number 1, `name (2).txt` for number 2, and so on.
    static func numbered(_ name: String, _ number: Int) -> String {
        if number == 1 { return name }
        let (stem, ending) = split(name)
        return "\(stem) (\(number))\(ending)"
    }
}
