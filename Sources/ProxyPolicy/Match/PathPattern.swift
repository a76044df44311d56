import HTTPMessage

/// A glob over a request's path. `*` matches any bytes within a segment, `**` matches any bytes at all, and `/**/` also matches a
/// single slash. All other bytes are compared exactly. The query is not part of the path.
///
/// For every pattern, matching is a single pass over the path: it tracks a set of states instead of backtracking. State *i* means that
/// the first *i* literal bytes of the pattern are matched; a star is a loop on its state. For a byte *c* of the path, each state whose
/// next literal is *c* advances by one, and each state whose loop accepts *c* stays. This takes two ands, a shift and two ors per 64
/// states.
package final class PathPattern: Sendable {
    /// The maximum length of a pattern, so that its states fit into `States`.
    package static let longest = 511

    package enum Fault: Error, Equatable {
        case empty, tooLong
        /// A path begins with a slash, so a pattern must begin with a slash or a star.
        case noLeadingSlash
        /// `?`, `#`, spaces and control characters never occur in a path.
        case notInPaths(UInt8)
    }

    /// Whether the pattern matches every path. Such a pattern also matches a request without a path (CONNECT).
    package let matchesEveryPath: Bool
    package let text: String
    /// The pattern with its escapes decoded, so that `%2A` is a literal star: the form that a server compares with a decoded
    /// path.
    var decoded: PathPattern { decodedPattern ?? self }
    private let decodedPattern: PathPattern?
    /// If the pattern matches everything below a folder, that folder as a pattern: `/npm` for `/npm/**`. `nil` for any other pattern.
    var folder: String? {
        let folder = text.dropLast(3)
        return text.hasSuffix("/**") && !folder.isEmpty && !folder.hasSuffix("**") ? String(folder) : nil
    }

    /// The bytes before the first star. They are compared first, because they rule out most paths.
    private let prefix: [UInt8]
    private let shape: Shape
    /// The automaton; `nil` unless the pattern's shape is `general`.
    private let machine: Machine?

    /// A byte of a path pattern, or a star.
    private typealias Element = UInt16

    private enum Shape { case literal, literalThenAnything, general }

    package convenience init(_ text: String) throws(Fault) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first else { throw .empty }
        guard bytes.count <= Self.longest else { throw .tooLong }
        guard first == ASCII.slash || first == Self.star else { throw .noLeadingSlash }
        for byte in bytes where byte <= ASCII.space || byte == 0x7F || byte == ASCII.question || byte == UInt8(ascii: "#") {
            throw .notInPaths(byte)
        }
        let elements = bytes.map { $0 == Self.star ? Self.anyBytes : Element($0) }
        self.init(elements, text: text, decoded: Self.decoded(bytes))
    }

    private init(_ elements: [Element], text: String, decoded: [Element]?) {
        self.text = text
        decodedPattern = decoded.map { PathPattern($0, text: text, decoded: nil) }
        prefix = elements.prefix { $0 != Self.anyBytes }.map { UInt8(truncatingIfNeeded: $0) }
        let rest = elements.dropFirst(prefix.count)
        if rest.isEmpty {
            shape = .literal
        } else {
            shape = rest.count > 1 && rest.allSatisfy { $0 == Self.anyBytes } ? .literalThenAnything : .general
        }
        machine = shape == .general ? Machine(elements) : nil
        matchesEveryPath = shape == .literalThenAnything && (prefix.isEmpty || prefix == [ASCII.slash])
    }

    /// - Returns: `nil` if there is nothing to decode.
    private static func decoded(_ bytes: [UInt8]) -> [Element]? {
        guard bytes.contains(UInt8(ascii: "%")) else { return nil }
        var decoded: [Element] = []
        var index = 0
        while index < bytes.count {
            if let byte = PercentEncoding.byte(in: bytes.span, at: index) {
                decoded.append(Element(byte))
                index += 3
            } else {
                decoded.append(bytes[index] == star ? anyBytes : Element(bytes[index]))
                index += 1
            }
        }
        return decoded
    }

    package func matches(_ path: Span<UInt8>) -> Bool {
        guard path.count >= prefix.count else { return false }
        for index in 0..<prefix.count where path[index] != prefix[index] { return false }
        switch shape {
        case .literal: return path.count == prefix.count
        case .literalThenAnything: return true
        case .general: return machine?.accepts(path) ?? false
        }
    }

    private static let star = UInt8(ascii: "*")
    private static let anyBytes: Element = 0x100
    private static let slash = Element(ASCII.slash)
}

extension PathPattern {
    /// A set of states, with one bit for each number of matched literals from 0 to `longest`.
    private typealias States = InlineArray<8, UInt64>

    /// A run of adjacent stars. Two or more stars also match slashes.
    private struct StarRun {
        let isAcross: Bool
        /// `/**/` also matches a single slash. Repetitions such as `/**/**/` match the same paths.
        let standsBetweenSlashes: Bool
        private(set) var end: Int

        init(in pattern: [Element], at start: Int) {
            end = Self.end(in: pattern, from: start)
            isAcross = end - start > 1
            let hasSlashBefore = start > 0 && pattern[start - 1] == slash
            standsBetweenSlashes = isAcross && hasSlashBefore && end < pattern.count && pattern[end] == slash
            while standsBetweenSlashes {
                let nextEnd = Self.end(in: pattern, from: end + 1)
                let repeats = nextEnd - end > 2 && nextEnd < pattern.count && pattern[nextEnd] == slash
                guard repeats else { break }
                end = nextEnd
            }
        }

        private static func end(in pattern: [Element], from start: Int) -> Int {
            pattern[start...].firstIndex { $0 != anyBytes } ?? pattern.count
        }
    }

    private struct Machine: Sendable {
        private let literalCount: Int
        private let wordCount: Int
        /// The byte classes that the pattern distinguishes. All bytes that do not occur in the pattern share class 0.
        private var classes = [UInt8](repeating: 0, count: 256)
        /// For each class, `wordCount` words: the states whose next literal is of this class.
        private var nextLiteral: [UInt64] = []
        private var staysInSegment: [UInt64]
        private var staysAnywhere: [UInt64]
        /// The states of a `**` between two slashes. The first slash leads to the state, and the second slash is optional.
        private var mayBeSkipped: [UInt64]

        init(_ pattern: [Element]) {
            wordCount = (pattern.count { $0 != anyBytes } + 64) / 64
            staysInSegment = Array(repeating: 0, count: wordCount)
            staysAnywhere = staysInSegment
            mayBeSkipped = staysInSegment
            nextLiteral = staysInSegment
            var classCount = 1
            var state = 0
            var index = 0
            while index < pattern.count {
                let byte = pattern[index]
                if byte == anyBytes {
                    let run = StarRun(in: pattern, at: index)
                    if run.isAcross { Self.set(state, in: &staysAnywhere) } else { Self.set(state, in: &staysInSegment) }
                    if run.standsBetweenSlashes { Self.set(state, in: &mayBeSkipped) }
                    index = run.end
                } else {
                    // If the pattern contains all 256 bytes, the last byte keeps class 0, because no byte is outside the pattern.
                    if classes[Int(byte)] == 0, classCount < 256 {
                        classes[Int(byte)] = UInt8(classCount)
                        classCount += 1
                        nextLiteral += Array(repeating: 0, count: wordCount)
                    }
                    nextLiteral[Int(classes[Int(byte)]) * wordCount + state / 64] |= 1 << UInt64(state % 64)
                    state += 1
                    index += 1
                }
            }
            literalCount = state
        }

        func accepts(_ path: Span<UInt8>) -> Bool {
            wordCount == 1 ? acceptsInOneWord(path) : acceptsInWords(path)
        }

        /// Like `step`, for patterns of at most 63 literals, which are nearly all patterns.
        private func acceptsInOneWord(_ path: Span<UInt8>) -> Bool {
            let staysAnywhere = self.staysAnywhere[0]
            let staysInSegment = self.staysInSegment[0] | staysAnywhere
            let mayBeSkipped = self.mayBeSkipped[0]
            var states: UInt64 = 1
            for index in 0..<path.count {
                let byte = path[index]
                let advanced = (states & nextLiteral[Int(classes[Int(byte)])]) << 1
                if byte == ASCII.slash {
                    states = advanced | states & staysAnywhere | (advanced & mayBeSkipped) << 1
                } else {
                    states = advanced | states & staysInSegment
                }
                if states == 0 { return false }
            }
            return states >> UInt64(literalCount) & 1 == 1
        }

        private func acceptsInWords(_ path: Span<UInt8>) -> Bool {
            var states: States = .init(repeating: 0)
            states[0] = 1
            for index in 0..<path.count {
                if !step(&states, over: path[index]) { return false }
            }
            return states[literalCount / 64] >> UInt64(literalCount % 64) & 1 == 1
        }

        /// - Returns: whether any state remains.
        private func step(_ states: inout States, over byte: UInt8) -> Bool {
            let row = Int(classes[Int(byte)]) * wordCount
            let isSlash = byte == ASCII.slash
            var left: UInt64 = 0
            var carry: UInt64 = 0
            var skipCarry: UInt64 = 0
            for word in 0..<wordCount {
                let current = states[word]
                let advancing = current & nextLiteral[row + word]
                let advanced = advancing << 1 | carry
                carry = advancing >> 63
                let skipping = isSlash ? advanced & mayBeSkipped[word] : 0
                let staying = current & (isSlash ? staysAnywhere[word] : staysAnywhere[word] | staysInSegment[word])
                states[word] = advanced | staying | skipping << 1 | skipCarry
                skipCarry = skipping >> 63
                left |= states[word]
            }
            return left != 0
        }

        private static func set(_ state: Int, in words: inout [UInt64]) {
            words[state / 64] |= 1 << UInt64(state % 64)
        }
    }
}
