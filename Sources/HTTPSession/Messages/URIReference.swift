import HTTPMessage

/// The parts of a URI reference (RFC 3986 §4.1), as they stand.
struct URIReference {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// By the expression of RFC 3986 appendix B: every text has these parts, whether it means anything or not.
    init(_ text: String) {
        var rest = Array(text.utf8)[...]
        if let mark = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(decoding: rest[(mark + 1)...], as: UTF8.self)
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: ASCII.question) {
            query = String(decoding: rest[(mark + 1)...], as: UTF8.self)
            rest = rest[..<mark]
        }
        if let colon = Self.endOfScheme(rest) {
            scheme = String(decoding: rest[..<colon], as: UTF8.self)
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: [ASCII.slash, ASCII.slash]) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: ASCII.slash) ?? rest.endIndex
            authority = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[end...]
        }
        path = String(decoding: rest, as: UTF8.self)
    }

    private static func endOfScheme(_ octets: ArraySlice<UInt8>) -> Int? {
        guard let first = octets.first, ASCII.isAlpha(first) else { return nil }
        for index in octets.indices {
            let octet = octets[index]
            if octet == ASCII.colon { return index }
            let belongs = ASCII.isAlpha(octet) || ASCII.isDigit(octet) || [0x2B, 0x2D, 0x2E].contains(octet)
            if !belongs { return nil }
        }
        return nil
    }

    /// RFC 3986 §5.2.3, for a base with an authority.
    static func merged(_ base: String, _ path: String) -> String {
        guard let slash = base.utf8.lastIndex(of: ASCII.slash) else { return "/" + path }
        return String(base[...slash]) + path
    }

    /// RFC 3986 §5.2.4.
    static func withoutDots(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                // The first segment is what stands before the leading slash.
                if kept.count > 1 { kept.removeLast() }
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return kept.joined(separator: "/")
    }

    /// What no URI may hold as it is, percent-encoded. A `%` stays: whether it begins an encoded octet is the origin's affair.
    static func encoded(_ text: String) -> String {
        guard text.utf8.contains(where: mustBeEncoded) else { return text }
        var result: [UInt8] = []
        for octet in text.utf8 {
            if mustBeEncoded(octet) { result += percentEncoded(octet) } else { result.append(octet) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func mustBeEncoded(_ octet: UInt8) -> Bool {
        if octet <= 0x20 || octet >= 0x7F { return true }
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"),
            UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            return true
        default: return false
        }
    }

    static func percentEncoded(_ octet: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 15)]]
    }
}
