import TestSupport

/// Generates valid and almost valid JSON texts from a seed.
struct SeededJSON: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    mutating func text() -> [UInt8] { Array((blanks() + value(depth: 0) + blanks()).utf8) }

    /// Inserts, removes or changes a byte, or truncates the text, one to three times.
    mutating func mutated(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            let place = Int.random(in: 0...text.count, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: text.insert(octet(), at: place)
            case 1 where place < text.count: text.remove(at: place)
            case 2 where place < text.count: text[place] = octet()
            default: text = Array(text[..<place])
            }
        }
        return text
    }

    private mutating func octet() -> UInt8 {
        let likely =
            Array("{}[]\",:\\u0123456789.eE+-truefalsn \n\t".utf8) + [
                0, 0x1F, 0x7F, 0x80, 0xBF, 0xC0, 0xE2, 0xED, 0xF0, 0xF5, 0xFF,
            ]
        return likely.randomElement(using: &self) ?? 0
    }

    private mutating func blanks() -> String { ["", "", " ", "\n", "\t \r\n"].randomElement(using: &self) ?? "" }

    private mutating func value(depth: Int) -> String {
        let kind = Int.random(in: depth > 4 ? 2..<6 : 0..<6, using: &self)
        switch kind {
        case 0: return container(open: "{", close: "}", named: true, depth: depth)
        case 1: return container(open: "[", close: "]", named: false, depth: depth)
        case 2: return ["true", "false", "null"].randomElement(using: &self) ?? "null"
        case 3: return number()
        default: return string()
        }
    }

    private mutating func container(open: String, close: String, named: Bool, depth: Int) -> String {
        let elements = (0..<Int.random(in: 0...3, using: &self)).map { _ in
            (named ? string() + blanks() + ":" + blanks() : "") + value(depth: depth + 1)
        }
        return open + blanks() + elements.joined(separator: blanks() + "," + blanks()) + blanks() + close
    }

    private mutating func number() -> String {
        ["0", "-0", "1", "-12", "1.5", "0.25e3", "1E+9", "2e-07", "123456789012345678901234567890"].randomElement(using: &self)
            ?? "0"
    }

    private mutating func string() -> String {
        let parts = [
            "", "a", "name", "\\\"", "\\\\", "\\/", "\\b\\f\\n\\r\\t", "\\u00e9", "\\uD800", "é", "€", "𝄞", "\u{7F}",
            "\u{10FFFF}",
        ]
        return "\"" + (0..<Int.random(in: 0...3, using: &self)).map { _ in parts.randomElement(using: &self) ?? "" }.joined()
            + "\""
    }
}
