import HTTPMessage
import ProxyPolicy

/// Divides the values of a query's parameter into classes, so that the patterns of rules do not distinguish the values of a class.
///
/// The search reads values byte by byte, and follows the positions that the value may have reached in each pattern. A rule that denies
/// ignores case, so each pattern is followed twice: with and without its case.
struct QueryValueClasses {
    struct Class {
        /// One of the shortest values of the class, decoded.
        let value: [UInt8]
        /// For each pattern, whether it matches with its case (rules that allow) and without (rules that deny).
        let matches: [Bool]
        let matchesFolded: [Bool]
    }

    private(set) var classes: [Class] = []

    /// The patterns of both kinds. A pattern of `n` bytes takes up `n + 1` positions; the last one is its end.
    private var tokens: [UInt8] = []
    /// For each position: the byte of the pattern, a star, or the end.
    private var kinds: [Kind] = []
    private var ends: [Int32] = []
    private var starts: [Int32] = []

    private enum Kind { case exact, folded, star, end }

    /// A set of positions that some value reaches, with the last byte of the value and the state before it.
    private struct State {
        let positions: [Int32]
        let parent: Int
        let byte: UInt8
    }

    /// - Returns: `nil` if the budget is used up first.
    init?(of patterns: [ValuePattern], budget: inout StepBudget) {
        for pattern in patterns { add(pattern.bytes, .exact) }
        for pattern in patterns { add(pattern.bytes.map(ASCII.lowercased), .folded) }
        guard search(patterns.count, budget: &budget) else { return nil }
    }

    private mutating func add(_ bytes: [UInt8], _ kind: Kind) {
        starts.append(Int32(tokens.count))
        tokens += bytes + [0]
        kinds += bytes.map { $0 == Glob.star ? .star : kind } + [.end]
        ends.append(Int32(tokens.count - 1))
    }

    private mutating func search(_ count: Int, budget: inout StepBudget) -> Bool {
        var first: [Int32] = []
        for start in starts { close(over: start, into: &first) }
        var states = [State(positions: first.sorted(), parent: -1, byte: 0)]
        var seen: Set<[Int32]> = [states[0].positions]
        var found: Set<[Bool]> = []
        var current = 0
        while current < states.count {
            let positions = states[current].positions
            let reached = Set(positions)
            let matches = ends.map(reached.contains)
            if found.insert(matches).inserted {
                classes.append(
                    Class(
                        value: Self.value(of: current, states), matches: Array(matches[..<count]),
                        matchesFolded: Array(matches[count...])))
            }
            for byte in bytes(from: positions) {
                guard budget.spend(positions.count + 4) else { return false }
                let next = step(positions, byte)
                if seen.insert(next).inserted { states.append(State(positions: next, parent: current, byte: byte)) }
            }
            current += 1
        }
        return true
    }

    private static func value(of state: Int, _ states: [State]) -> [UInt8] {
        var value: [UInt8] = []
        var index = state
        while states[index].parent >= 0 {
            value.append(states[index].byte)
            index = states[index].parent
        }
        return value.reversed()
    }

    /// One byte for each different state that can follow: the bytes of the patterns in both cases, and one byte that is in no pattern.
    private func bytes(from positions: [Int32]) -> [UInt8] {
        var bytes: [UInt8] = []
        for position in positions {
            let byte = tokens[Int(position)]
            switch kinds[Int(position)] {
            case .exact: bytes.append(byte)
            case .folded:
                bytes.append(byte)
                if ASCII.isAlpha(byte) { bytes.append(byte ^ 0x20) }
            case .star, .end: break
            }
        }
        var listed: Set<UInt8> = []
        bytes.removeAll { !listed.insert($0).inserted }
        if let other = Self.ordinaryBytes.first(where: { !listed.contains($0) }) { bytes.append(other) }
        return bytes
    }

    /// All bytes, in the order in which they are chosen for examples: bytes that a URL may contain unencoded come first.
    private static let ordinaryBytes = Array("xyz0123456789abcdefghijklmnopqrstuvwABCDEFGHIJKLMNOPQRSTUVWXYZ-_.".utf8) + (0...255)

    private func step(_ positions: [Int32], _ byte: UInt8) -> [Int32] {
        var reached: [Int32] = []
        for position in positions {
            switch kinds[Int(position)] {
            case .exact: if tokens[Int(position)] == byte { close(over: position + 1, into: &reached) }
            case .folded: if tokens[Int(position)] == ASCII.lowercased(byte) { close(over: position + 1, into: &reached) }
            case .star: close(over: position, into: &reached)
            case .end: break
            }
        }
        return Set(reached).sorted()
    }

    /// Adds the position, and the positions after stars that directly follow it.
    private func close(over position: Int32, into reached: inout [Int32]) {
        var position = position
        reached.append(position)
        while kinds[Int(position)] == .star {
            position += 1
            reached.append(position)
        }
    }
}
