import ProxyPolicy
import TextCoding

extension ValueForm where Value == String {
    static let collector = text(
        "the URL of a collector, such as http://127.0.0.1:4318", schema: .pattern("^https?://[^/?#@]+(/[^?#]*)?$"),
        isSecret: true,
        parse: collectorURL, show: { .text($0) })

    /// - Returns: the URL without a final slash; `nil` if it is no http or https URL, or has a query.
    private static func collectorURL(_ text: String) -> String? {
        let schemes = ["http://", "https://"]
        guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else { return nil }
        let rest = text.dropFirst(scheme.count)
        let isPlain = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isPlain, !rest.contains(where: { "?#@".contains($0) }), rest.first.map({ $0 != "/" && $0 != ":" }) == true
        else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" }
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]"),
            UInt16(authority[authority.index(after: colon)...]) == nil
        {
            return nil
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}

extension ValueForm where Value == String {
    static let webhook = text(
        "a URL, such as https://hooks.example/larder", schema: .pattern("^https?://[^/?#@]+([/?][^#]*)?$"), isSecret: true,
        parse: { text in
            // A query may hold a token, which a collector's URL has no place for.
            let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            guard let base = parts.first.map(String.init), collectorURL(base) != nil else { return nil }
            guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains("#") else { return nil }
            return text
        },
        // The path and the query often hold a token.
        show: { url in
            let authority = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(
                separator: "/")
            let host = authority.prefix { $0 != "?" }
            return .text(host.count == url.count ? url : "\(host)/***")
        })
}

extension ValueForm where Value == Double {
    /// The form of a part of a whole.
    static let share = text(
        "a number from 0 to 1, such as 0.1",
        schema: .object([("type", .string("number")), ("minimum", .number(0)), ("maximum", .number(1))]),
        parse: { text in
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }), let share = Double(text),
                (0...1).contains(share)
            else { return nil }
            return share
        }, show: { .plain($0 == 1 ? "1" : $0 == 0 ? "0" : "\($0)") })
}
