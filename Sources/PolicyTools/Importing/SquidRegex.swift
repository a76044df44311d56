import HTTPMessage
import ProxyPolicy

/// Translates the regular expressions of squid.conf that a rule can express exactly. They match any part of a text, so most have to be
/// anchored.
enum SquidRegex {
    static func isHost(_ text: String) -> Bool { (try? HostPattern(text)) != nil }

    /// `^www\.example\.com$`, `\.example\.com$` or `(^|\.)example\.com$`. Host names are compared without case in any form.
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

    /// `^/literal`: squid compares the path with the query, so only the beginning is certainly in the path.
    static func path(_ expression: String, ignoresCase: Bool) -> String? {
        guard expression.hasPrefix("^/") else { return nil }
        var body = expression.dropFirst()
        if body.hasSuffix(".*") { body = body.dropLast(2) }
        guard let text = literal(body), !text.contains("?"), !ignoresCase || !text.contains(where: \.isLetter) else { return nil }
        let pattern = text == "/" ? "/**" : "\(text)**"
        return text.contains("*") || (try? PathPattern(pattern)) == nil ? nil : pattern
    }

    /// `^http://host/literal`, also with `https` or `https?`, each at its default port.
    static func urls(_ expression: String, ignoresCase: Bool) -> [SquidACL.SquidURL]? {
        for (prefix, schemes) in [("^https?://", ["http", "https"]), ("^http://", ["http"]), ("^https://", ["https"])]
        where expression.hasPrefix(prefix) {
            let rest = expression.dropFirst(prefix.count)
            guard let slash = rest.firstIndex(of: "/"), let host = literal(rest[..<slash])?.lowercased(), isHost(host),
                let path = path("^" + rest[slash...], ignoresCase: ignoresCase)
            else { return nil }
            return schemes.map { SquidACL.SquidURL(scheme: $0, host: host, path: path) }
        }
        return nil
    }

    /// The only text that the expression matches; `nil` if it matches several.
    private static func literal(_ expression: Substring) -> String? {
        var text = ""
        var isEscaped = false
        for character in expression {
            if isEscaped {
                // An escaped letter or digit is a class or a reference.
                if character.isLetter || character.isNumber { return nil }
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
