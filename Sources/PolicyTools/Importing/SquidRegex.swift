import HTTPMessage
import ProxyPolicy

/// Translates those regular expressions of squid.conf that a rule can express exactly. In squid, an expression without anchors matches
/// any part of a text. So most expressions can be translated only if they have anchors.
enum SquidRegex {
    static func isHost(_ text: String) -> Bool { (try? HostPattern(text)) != nil }

    /// Translates an expression for hosts: `^www\.example\.com$`, `\.example\.com$` or `(^|\.)example\.com$`. Host names are always
    /// compared case-insensitively.
    static func hosts(_ expression: String) -> [String]? {
        guard expression.hasSuffix("$"), !expression.hasSuffix("\\$") else { return nil }
        let body = expression.dropLast()
        let found: [String]?
        if body.hasPrefix("(^|\\.)") {
            found = literal(body.dropFirst(6)).map { [$0, "*.\($0)"] }
        } else if body.hasPrefix("^") {
            found = literal(body.dropFirst()).map { [$0] }
        } else if body.hasPrefix("\\.") {
            found = literal(body.dropFirst(2)).map { ["*.\($0)"] }
        } else {
            found = nil
        }
        guard let hosts = found?.map({ $0.lowercased() }), hosts.allSatisfy(isHost) else { return nil }
        return hosts
    }

    /// Translates an expression for paths: `^/literal`. Squid compares it with the path and the query as one text, so only its
    /// beginning is certainly in the path. Squid decodes the path before it compares, so a `%` in the expression means a `%` in the
    /// decoded path.
    static func path(_ expression: String, ignoresCase: Bool) -> String? {
        guard expression.hasPrefix("^/") else { return nil }
        var body = expression.dropFirst()
        if body.hasSuffix(".*"), !body.hasSuffix("\\.*") { body = body.dropLast(2) }
        guard let text = literal(body), !ignoresCase || !text.contains(where: \.isLetter) else { return nil }
        // The text may contain the beginning of a query, which is not part of a rule's path.
        if text.utf8.contains(where: { $0 == ASCII.question || $0 == UInt8(ascii: "#") }) { return nil }
        var pattern: [UInt8] = []
        for byte in text.utf8 {
            let isPlain = byte > ASCII.space && byte < 0x7F && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "*")
            if isPlain { pattern.append(byte) } else { PercentEncoding.append(encoded: byte, into: &pattern) }
        }
        let glob = String(decoding: pattern, as: UTF8.self) + "**"
        return glob.contains("$(") || (try? PathPattern(glob)) == nil ? nil : glob
    }

    /// Translates an expression for URLs: `^http://host/literal`, also with `https` or `https?`, each with its default port.
    static func urls(_ expression: String, ignoresCase: Bool) -> [SquidACL.URLPrefix]? {
        for (prefix, schemes) in [("^https?://", ["http", "https"]), ("^http://", ["http"]), ("^https://", ["https"])]
        where expression.hasPrefix(prefix) {
            let rest = expression.dropFirst(prefix.count)
            guard let slash = rest.firstIndex(of: "/"), let host = literal(rest[..<slash])?.lowercased(), isHost(host),
                let path = path("^" + rest[slash...], ignoresCase: ignoresCase)
            else { return nil }
            return schemes.map { SquidACL.URLPrefix(scheme: $0, host: host, path: path) }
        }
        return nil
    }

    /// The only text that the expression matches; `nil` if the expression matches several texts.
    private static func literal(_ expression: Substring) -> String? {
        var text = ""
        var isEscaped = false
        for character in expression {
            if isEscaped {
                // An escaped letter or digit is a character class or a back reference. The other escapes listed here match the
                // beginning or end of a word or of the text.
                if character.isLetter || character.isNumber || "<>`'".contains(character) { return nil }
                text.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if ".[](){}*+?^$|".contains(character) {
                return nil
            } else {
                text.append(character)
            }
        }
        return isEscaped || text.isEmpty ? nil : text
    }
}
