import HTTPMessage
import Testing

/// The part of RFC 8941 that Larder's members need. Written by hand, because a simulation checks every head.
enum StructuredFields {
    /// A token with parameters whose values are tokens, integers, booleans or strings.
    static func isItem(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        guard takeToken(&rest) else { return false }
        while !rest.isEmpty {
            guard rest.removeFirst() == UInt8(ascii: ";") else { return false }
            rest = rest.drop { $0 == ASCII.space }
            guard takeKey(&rest) else { return false }
            guard rest.first == ASCII.equals else { continue }
            rest.removeFirst()
            guard takeValue(&rest) else { return false }
        }
        return true
    }

    private static func takeToken(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, ASCII.isAlpha(first) || first == UInt8(ascii: "*") else { return false }
        rest = rest.drop { ASCII.isTokenCharacter($0) || $0 == ASCII.colon || $0 == ASCII.slash }
        return true
    }

    private static func takeKey(_ rest: inout ArraySlice<UInt8>) -> Bool {
        func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "*") }
        guard let first = rest.first, isLower(first) else { return false }
        rest = rest.drop { isLower($0) || ASCII.isDigit($0) || [0x5F, 0x2D, 0x2E].contains($0) }
        return true
    }

    private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> Bool {
        switch rest.first {
        case ASCII.quote: return takeString(&rest)
        case ASCII.question:
            guard rest.count >= 2, rest[rest.startIndex + 1] == 0x30 || rest[rest.startIndex + 1] == 0x31 else { return false }
            rest = rest.dropFirst(2)
            return true
        case UInt8(ascii: "-"): return takeInteger(&rest, after: 1)
        case let byte? where ASCII.isDigit(byte): return takeInteger(&rest, after: 0)
        default: return takeToken(&rest)
        }
    }

    private static func takeInteger(_ rest: inout ArraySlice<UInt8>, after sign: Int) -> Bool {
        let digits = rest.dropFirst(sign).prefix { ASCII.isDigit($0) }
        rest = rest[digits.endIndex...]
        return (1...15).contains(digits.count)
    }

    private static func takeString(_ rest: inout ArraySlice<UInt8>) -> Bool {
        rest.removeFirst()
        while let byte = rest.popFirst() {
            if byte == ASCII.quote { return true }
            guard (0x20..<0x7F).contains(byte) else { return false }
            guard byte == ASCII.backslash else { continue }
            guard let escaped = rest.popFirst(), escaped == ASCII.quote || escaped == ASCII.backslash else { return false }
        }
        return false
    }
}

@Suite("The tests' parser for structured fields (RFC 8941)")
struct StructuredFieldsTests {
    @Test(
        "Valid and invalid items",
        arguments: [
            ("Larder; hit; ttl=-5; detail=max_stale", true), ("larder; error=dns_error; details=\"a: \\\"b\"", true),
            ("Larder; fwd=uri-miss; collapsed=?0", true), ("Larder;", false), ("Larder; Hit", false), ("Larder; a=?2", false),
            ("Larder; a=\"b", false), ("Larder; a=-", false), ("", false), ("5", false), ("Larder, x", false),
            ("Larder; a=", false),
        ])
    func reads(text: String, isItem: Bool) { #expect(StructuredFields.isItem(text) == isItem) }
}
