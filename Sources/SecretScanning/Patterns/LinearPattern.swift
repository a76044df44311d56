import HTTPMessage

/// A regular expression whose matching time is bounded by the length of the text, whatever the pattern. It follows all alternatives at
/// once, byte by byte, without backtracking (threat T35).
///
/// Supports bytes, `.`, classes `[a-z]` and `[^…]`, `\d \D \w \W \s \S`, groups, `|`, `* + ?` and `{m,n}`, and `^` and `$` for the ends
/// of the text. Finds the leftmost match. If several matches begin there, finds the longest. There are no captures.
package struct LinearPattern: Sendable {
    /// The maximum number of steps in a pattern.
    static let stepLimit = 512
    /// How many bytes from the beginning of a text are searched for matches to replace. Recordings are looked up by the result, so the
    /// limit must not change.
    static let textLimit = 1 << 20
    /// The maximum number of steps for all replacements in a text. After that, the rest of the text stays unchanged.
    static let workLimit = 64 << 20

    private let steps: [Step]
    /// For each byte value: whether a match may begin with it. This check alone skips most of a text.
    private let beginnings: [Bool]

    /// One step of a compiled pattern.
    enum Step: Sendable {
        case octet(OctetSet)
        /// The search continues at both steps.
        case either(Int, Int)
        case go(Int)
        case start
        case end
        case found
    }

    /// - Throws: `malformed` with the fault.
    package init(_ text: String) throws(SecretScanningError) {
        var parser = LinearPatternParser(text)
        steps = try parser.parse()
        beginnings = Self.beginnings(of: steps)
    }

    private static func beginnings(of steps: [Step]) -> [Bool] {
        var result = [Bool](repeating: false, count: 256)
        var isReached = [Bool](repeating: false, count: steps.count)
        var open = [0]
        while let step = open.popLast() {
            if isReached[step] { continue }
            isReached[step] = true
            switch steps[step] {
            case .octet(let set): for octet in 0...255 where set.contains(UInt8(octet)) { result[octet] = true }
            case .either(let one, let other): open += [one, other]
            case .go(let target): open.append(target)
            case .start, .end: open.append(step + 1)
            case .found: break
            }
        }
        return result
    }

    /// Replaces each match in a text. Empty matches are ignored.
    package func replacingAll(in text: [UInt8], by replacement: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var place = 0
        for range in ranges(in: text) {
            result += text[place..<range.lowerBound]
            result += replacement
            place = range.upperBound
        }
        return place == 0 ? text : result + text[place...]
    }

    /// The ranges to replace, without empty matches.
    package func ranges(in text: [UInt8]) -> [Range<Int>] {
        var search = Search(steps, beginnings, textLimit: Self.textLimit, roundLimit: Self.workLimit / steps.count)
        return ranges(in: text, &search)
    }

    /// The non-empty matches in a whole text.
    /// - Parameter work: the number of steps allowed; reduced by the number of steps taken.
    /// - Returns: the matches, and the position up to which the text was searched. That is the end of the text, or the end of the
    ///   last match if `work` was not enough.
    func ranges(in text: [UInt8], work: inout Int) -> (ranges: [Range<Int>], end: Int) {
        var search = Search(steps, beginnings, work: work)
        let ranges = ranges(in: text, &search)
        work = max(work - search.work, 0)
        return (ranges, search.isSpent ? ranges.last?.upperBound ?? 0 : text.count)
    }

    private func ranges(in text: [UInt8], _ search: inout Search) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        while (ranges.last?.upperBound ?? 0) < min(text.count, search.textLimit),
            let range = search.first(in: text, from: ranges.last?.upperBound ?? 0)
        {
            ranges.append(range)
        }
        return ranges
    }

    /// A search in a text: the active steps of the pattern, each with the position at which its match began.
    private struct Search {
        private let steps: [Step]
        private let beginnings: [Bool]
        private var current: [(step: Int, start: Int)] = []
        private var next: [(step: Int, start: Int)] = []
        /// For each step: the last round of the search in which the step was active.
        private var reached: [Int]
        private var round = 0
        private let roundLimit: Int
        private let workLimit: Int
        let textLimit: Int
        /// The number of steps taken.
        private(set) var work = 0
        /// Whether a limit ended the search.
        private(set) var isSpent = false

        init(_ steps: [Step], _ beginnings: [Bool], work: Int = .max, textLimit: Int = .max, roundLimit: Int = .max) {
            self.steps = steps
            self.beginnings = beginnings
            self.textLimit = textLimit
            self.roundLimit = roundLimit
            workLimit = work
            reached = [Int](repeating: -1, count: steps.count)
        }

        mutating func first(in text: [UInt8], from start: Int) -> Range<Int>? {
            var found: Range<Int>?
            current.removeAll(keepingCapacity: true)
            let limit = min(text.count, textLimit)
            var place = start
            while round < roundLimit, work < workLimit {
                if current.isEmpty, found == nil {
                    // Each skipped position takes one round, as if the pattern were tried there.
                    while place < limit, round < roundLimit, !beginnings[Int(text[place])] {
                        place += 1
                        round += 1
                    }
                }
                round += 1
                next.removeAll(keepingCapacity: true)
                for (step, start) in current { follow(step, start, place, text, &found) }
                // Until a match is found, a match may also begin at this position. A match that begins earlier has precedence.
                if found == nil { follow(0, place, place, text, &found) }
                swap(&current, &next)
                if place >= limit || current.isEmpty && found != nil { return found }
                advance(over: text[place])
                place += 1
            }
            isSpent = true
            return nil
        }

        /// Activates a step, and all steps that follow without consuming a byte.
        private mutating func follow(_ step: Int, _ start: Int, _ place: Int, _ text: [UInt8], _ found: inout Range<Int>?) {
            guard reached[step] != round else { return }
            reached[step] = round
            work += 1
            switch steps[step] {
            case .octet: next.append((step, start))
            case .either(let one, let other):
                follow(one, start, place, text, &found)
                follow(other, start, place, text, &found)
            case .go(let target): follow(target, start, place, text, &found)
            case .start: if place == 0 { follow(step + 1, start, place, text, &found) }
            case .end: if place == text.count { follow(step + 1, start, place, text, &found) }
            case .found:
                guard place > start else { return }
                if let earlier = found, earlier.lowerBound < start { return }
                found = start..<place
            }
        }

        /// Advances each step that accepts the byte, and drops the others.
        private mutating func advance(over octet: UInt8) {
            var kept = 0
            work += current.count
            for index in current.indices {
                guard case .octet(let set) = steps[current[index].step], set.contains(octet) else { continue }
                current[kept] = (current[index].step + 1, current[index].start)
                kept += 1
            }
            current.removeLast(current.count - kept)
        }
    }
}

/// A set of the 256 byte values.
struct OctetSet: Sendable, Equatable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init(where contains: (UInt8) -> Bool = { _ in false }) {
        for octet in 0...255 where contains(UInt8(octet)) { insert(UInt8(octet)) }
    }

    mutating func insert(_ octet: UInt8) {
        let bit = UInt64(1) << UInt64(octet & 63)
        switch octet >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        default: words.3 |= bit
        }
    }

    func contains(_ octet: UInt8) -> Bool {
        let word =
            switch octet >> 6 {
            case 0: words.0
            case 1: words.1
            case 2: words.2
            default: words.3
            }
        return word >> UInt64(octet & 63) & 1 == 1
    }

    static func == (left: OctetSet, right: OctetSet) -> Bool { left.words == right.words }
}
