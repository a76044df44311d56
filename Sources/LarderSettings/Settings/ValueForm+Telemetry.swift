import ProxyPolicy
import TextCoding

extension ValueForm where Value == String {
    static let collector = text(
        "the URL of a collector, such as http://127.0.0.1:4318", schema: .pattern("^https?://[^/?#@]+(/[^?#]*)?$"),
        isSecret: true,
        parse: { text in
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
        }, show: { .text($0) })
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
