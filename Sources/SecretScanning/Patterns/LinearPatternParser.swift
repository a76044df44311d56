import HTTPMessage

/// Parses a regular expression into the steps of a `LinearPattern`, by recursive descent.
struct LinearPatternParser {
    /// The maximum nesting of groups.
    private static let depthLimit = 32
    /// The maximum number in `{m,n}`.
    private static let repetitionLimit = 256

    private let text: [UInt8]
    private var place = 0
    private var depth = 0

    init(_ text: String) { self.text = Array(text.utf8) }

    mutating func parse() throws(SecretScanningError) -> [LinearPattern.Step] {
        let steps = try alternatives()
        guard place == text.count else { throw fault("an unmatched closing bracket") }
        return steps + [.found]
    }

    /// The steps of all alternatives. The targets of jumps are relative to the first step.
    private mutating func alternatives() throws(SecretScanningError) -> [LinearPattern.Step] {
        var steps = try sequence()
        while next == UInt8(ascii: "|") {
            place += 1
            let other = try sequence()
            // For `A|B`: after A, jump past B.
            steps = try limited(
                [.either(1, steps.count + 2)] + moved(steps, by: 1) + [.go(steps.count + 2 + other.count)]
                    + moved(other, by: steps.count + 2))
        }
        return steps
    }

    private mutating func sequence() throws(SecretScanningError) -> [LinearPattern.Step] {
        var steps: [LinearPattern.Step] = []
        while let octet = next, octet != UInt8(ascii: "|"), octet != UInt8(ascii: ")") {
            let one = try repeated(try atom())
            steps = try limited(steps + moved(one, by: steps.count))
        }
        return steps
    }

    private mutating func repeated(_ atom: [LinearPattern.Step]) throws(SecretScanningError) -> [LinearPattern.Step] {
        var steps = atom
        while let octet = next {
            switch octet {
            case UInt8(ascii: "*"): steps = loop(steps, optional: true)
            case UInt8(ascii: "+"): steps = loop(steps, optional: false)
            case UInt8(ascii: "?"): steps = optional(steps)
            case UInt8(ascii: "{"):
                place += 1
                steps = try counted(steps)
                continue
            default: return steps
            }
            place += 1
            steps = try limited(steps)
        }
        return steps
    }

    private func loop(_ steps: [LinearPattern.Step], optional: Bool) -> [LinearPattern.Step] {
        optional
            ? [.either(1, steps.count + 2)] + moved(steps, by: 1) + [.go(0)]
            : steps + [.either(0, steps.count + 1)]
    }

    private func optional(_ steps: [LinearPattern.Step]) -> [LinearPattern.Step] {
        [.either(1, steps.count + 1)] + moved(steps, by: 1)
    }

    /// Parses `{m}`, `{m,}` or `{m,n}`, after the opening brace.
    private mutating func counted(_ steps: [LinearPattern.Step]) throws(SecretScanningError) -> [LinearPattern.Step] {
        let least = try number()
        var greatest: Int? = least
        if next == ASCII.comma {
            place += 1
            greatest = next == UInt8(ascii: "}") ? nil : try number()
        }
        guard next == UInt8(ascii: "}"), least <= greatest ?? least else { throw fault("an invalid repetition") }
        place += 1
        var result: [LinearPattern.Step] = []
        for _ in 0..<least { result = try limited(result + moved(steps, by: result.count)) }
        guard let greatest else { return try limited(result + moved(loop(steps, optional: true), by: result.count)) }
        for _ in least..<greatest { result = try limited(result + moved(optional(steps), by: result.count)) }
        return result
    }

    private mutating func number() throws(SecretScanningError) -> Int {
        var number = 0
        let start = place
        while let octet = next, ASCII.isDigit(octet), number <= Self.repetitionLimit {
            number = number * 10 + Int(octet - UInt8(ascii: "0"))
            place += 1
        }
        guard place > start, number <= Self.repetitionLimit else { throw fault("an invalid repetition") }
        return number
    }

    private mutating func atom() throws(SecretScanningError) -> [LinearPattern.Step] {
        guard let octet = next else { throw fault("the pattern ends too early") }
        place += 1
        switch octet {
        case UInt8(ascii: "("):
            depth += 1
            guard depth <= Self.depthLimit else { throw fault("groups are nested too deep") }
            // `(?:` is the same as `(`, since there are no captures.
            if text[place...].starts(with: Array("?:".utf8)) { place += 2 }
            let steps = try alternatives()
            guard next == UInt8(ascii: ")") else { throw fault("an unclosed group") }
            place += 1
            depth -= 1
            return steps
        case UInt8(ascii: "["): return [.octet(try set())]
        case UInt8(ascii: "."): return [.octet(OctetSet { $0 != ASCII.lf })]
        case UInt8(ascii: "^"): return [.start]
        case UInt8(ascii: "$"): return [.end]
        case ASCII.backslash: return [.octet(try escaped())]
        case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"), UInt8(ascii: "{"): throw fault("nothing to repeat")
        default: return [.octet(OctetSet { $0 == octet })]
        }
    }

    /// Parses an escape, after its backslash.
    private mutating func escaped() throws(SecretScanningError) -> OctetSet {
        guard let octet = next else { throw fault("nothing follows the backslash") }
        place += 1
        func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || (0x09...0x0D).contains(octet) }
        switch octet {
        case UInt8(ascii: "d"): return OctetSet(where: ASCII.isDigit)
        case UInt8(ascii: "D"): return OctetSet { !ASCII.isDigit($0) }
        case UInt8(ascii: "w"): return OctetSet(where: ASCII.isWord)
        case UInt8(ascii: "W"): return OctetSet { !ASCII.isWord($0) }
        case UInt8(ascii: "s"): return OctetSet(where: isSpace)
        case UInt8(ascii: "S"): return OctetSet { !isSpace($0) }
        case UInt8(ascii: "n"): return OctetSet { $0 == ASCII.lf }
        case UInt8(ascii: "r"): return OctetSet { $0 == ASCII.cr }
        case UInt8(ascii: "t"): return OctetSet { $0 == ASCII.tab }
        default:
            // Escapes with a meaning in other dialects are refused rather than taken literally.
            guard !ASCII.isAlpha(octet), !ASCII.isDigit(octet) else { throw fault("an unknown escape") }
            return OctetSet { $0 == octet }
        }
    }

    /// Parses a class, after its opening square bracket.
    private mutating func set() throws(SecretScanningError) -> OctetSet {
        let isNegated = next == UInt8(ascii: "^")
        if isNegated { place += 1 }
        var members = OctetSet()
        let start = place
        while let octet = next, octet != UInt8(ascii: "]") || place == start {
            place += 1
            if octet == ASCII.backslash {
                let escaped = try escaped()
                for member in 0...255 where escaped.contains(UInt8(member)) { members.insert(UInt8(member)) }
            } else if next == UInt8(ascii: "-"), place + 1 < text.count, text[place + 1] != UInt8(ascii: "]") {
                let last = text[place + 1]
                guard octet <= last else { throw fault("the range ends before it begins") }
                for member in octet...last { members.insert(member) }
                place += 2
            } else {
                members.insert(octet)
            }
        }
        guard next == UInt8(ascii: "]") else { throw fault("an unclosed class") }
        place += 1
        return isNegated ? OctetSet { [members] in !members.contains($0) } : members
    }

    private var next: UInt8? { place < text.count ? text[place] : nil }

    private func moved(_ steps: [LinearPattern.Step], by distance: Int) -> [LinearPattern.Step] {
        steps.map { step in
            switch step {
            case .either(let one, let other): .either(one + distance, other + distance)
            case .go(let target): .go(target + distance)
            case .octet, .start, .end, .found: step
            }
        }
    }

    private func limited(_ steps: [LinearPattern.Step]) throws(SecretScanningError) -> [LinearPattern.Step] {
        guard steps.count <= LinearPattern.stepLimit else {
            throw fault("the matcher would need more than \(LinearPattern.stepLimit) steps")
        }
        return steps
    }

    private func fault(_ detail: String) -> SecretScanningError {
        .malformed("the pattern \(String(decoding: text, as: UTF8.self)): \(detail) at byte \(place)")
    }
}
