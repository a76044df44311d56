import HTTPMessage
import ProxyPolicy

/// One part of a path pattern: a byte, or a run of stars (see `PathPattern`).
enum PathToken: Hashable {
    case byte(UInt8)
    /// The star `*`, which matches any bytes within a segment.
    case segment
    /// The stars `**`, which match any bytes.
    case across
    /// The stars of `/**/`. They match like `across`, but the slash after them may be missing.
    case betweenSlashes
}

/// A path pattern in the form in which it is compared with decoded paths: with its escapes decoded.
struct PathTokens {
    let tokens: [PathToken]
    /// Whether a literal part occurs only in paths with several readings (`PathReadings`): an escape, `;`, `\`, an empty segment, or a dot
    /// at the start of a segment.
    let isOfSeveralReadings: Bool

    init(_ pattern: PathPattern) {
        let literals = Self.literals(Array(pattern.text.utf8))
        var tokens: [PathToken] = []
        var isSpecial = false
        var index = 0
        while index < literals.count {
            guard let byte = literals[index] else {
                let start = index
                while index < literals.count, literals[index] == nil { index += 1 }
                tokens.append(Self.stars(index - start, before: literals[index...], after: tokens.last))
                if tokens.suffix(3) == [.betweenSlashes, .byte(ASCII.slash), .betweenSlashes] { tokens.removeLast(2) }
                continue
            }
            if !PathUniverse.hasOneReading(byte) || tokens.last == .byte(ASCII.slash) && (byte == ASCII.slash || byte == 0x2E) {
                isSpecial = true
            }
            tokens.append(.byte(byte))
            index += 1
        }
        self.tokens = tokens
        isOfSeveralReadings = isSpecial
    }

    private static func stars(_ count: Int, before rest: ArraySlice<UInt8?>, after last: PathToken?) -> PathToken {
        if count == 1 { return .segment }
        let standsBetweenSlashes = last == .byte(ASCII.slash) && rest.first == .some(.some(ASCII.slash))
        return standsBetweenSlashes ? .betweenSlashes : .across
    }

    /// The decoded bytes of the pattern; `nil` stands for a star.
    private static func literals(_ text: [UInt8]) -> [UInt8?] {
        var literals: [UInt8?] = []
        var index = 0
        while index < text.count {
            if let byte = PercentEncoding.byte(in: text.span, at: index) {
                literals.append(byte)
                index += 3
            } else {
                literals.append(text[index] == UInt8(ascii: "*") ? nil : text[index])
                index += 1
            }
        }
        return literals
    }
}

/// The set of paths that a comparison considers.
enum PathUniverse {
    /// Paths that have one reading, as requests can contain them.
    case oneReading
    /// All byte strings that begin with a slash: the readings of any path.
    case readings

    /// Whether this byte may be the next one in a path.
    func contains(_ byte: UInt8, afterSlash: Bool) -> Bool {
        switch self {
        case .readings: true
        case .oneReading: Self.hasOneReading(byte) && !(afterSlash && (byte == ASCII.slash || byte == 0x2E))
        }
    }

    /// Whether a request's path may contain the byte, and all servers agree on its meaning.
    static func hasOneReading(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...ASCII.space, 0x7F, UInt8(ascii: "%"), ASCII.backslash, ASCII.semicolon, ASCII.question, UInt8(ascii: "#"): false
        default: true
        }
    }
}
