import HTTPMessage

/// The path patterns of all rules of two policies, as one nondeterministic automaton that reads a path byte by byte. Patterns with a
/// common beginning share its nodes.
struct PathAutomaton {
    private enum Loop { case none, segment, across }

    private struct Node {
        var bytes: [(byte: UInt8, node: Int32)] = []
        var loop = Loop.none
        var segment: Int32 = -1
        var across: Int32 = -1
        var betweenSlashes: Int32 = -1
        /// The patterns that end at this node.
        var ends: [PatternEnd] = []
    }

    /// The end of a path pattern, with the rule that has the pattern.
    struct PatternEnd {
        let side: Side
        let effect: RuleEffect
        let rule: Int32
    }

    private var nodes = [Node()]

    mutating func insert(_ tokens: [PathToken], ending end: PatternEnd) {
        var node: Int32 = 0
        for token in tokens { node = child(of: node, by: token) }
        nodes[Int(node)].ends.append(end)
    }

    private mutating func child(of node: Int32, by token: PathToken) -> Int32 {
        let index = Int(node)
        switch token {
        case .byte(let byte):
            if let known = next(node, byte) { return known }
            let made = add(.none)
            nodes[index].bytes.append((byte, made))
            return made
        case .segment:
            if nodes[index].segment < 0 { nodes[index].segment = add(.segment) }
            return nodes[index].segment
        case .across:
            if nodes[index].across < 0 { nodes[index].across = add(.across) }
            return nodes[index].across
        case .betweenSlashes:
            if nodes[index].betweenSlashes < 0 { nodes[index].betweenSlashes = add(.across) }
            return nodes[index].betweenSlashes
        }
    }

    private mutating func add(_ loop: Loop) -> Int32 {
        nodes.append(Node(loop: loop))
        return Int32(nodes.count - 1)
    }

    private func next(_ node: Int32, _ byte: UInt8) -> Int32? {
        for edge in nodes[Int(node)].bytes where edge.byte == byte { return edge.node }
        return nil
    }

    /// Whether a pattern matches the path.
    func matches(_ path: [UInt8]) -> Bool {
        var state: [Int32] = []
        close(over: 0, into: &state)
        for byte in path { state = step(state, byte) }
        return state.contains { !nodes[Int($0)].ends.isEmpty }
    }

    // MARK: Searching

    /// The set of nodes that a path reaches, with the last byte of the path and the state before it.
    private struct State {
        let nodes: [Int32]
        let parent: Int32
        let byte: UInt8
    }

    private struct StateKey: Hashable {
        let nodes: [Int32]
        let isAfterSlash: Bool
    }

    /// Paths match different sets of patterns. For each such set, visits one of the shortest paths that match it.
    /// - Parameters:
    ///   - budget: the steps that are left; each visited node takes a step.
    ///   - visit: receives the ends of the patterns that match, and the path.
    /// - Returns: `false` if the steps were used up first.
    func search(
        in universe: PathUniverse, budget: inout StepBudget, visit: (_ ends: [PatternEnd], _ path: () -> [UInt8]) -> Void
    ) -> Bool {
        var root: [Int32] = []
        close(over: 0, into: &root)
        var states = [State(nodes: step(root, ASCII.slash), parent: -1, byte: ASCII.slash)]
        var seen: Set<StateKey> = [StateKey(nodes: states[0].nodes, isAfterSlash: universe == .oneReading)]
        var current = 0
        var ends: [PatternEnd] = []
        while current < states.count {
            let state = states[current]
            ends.removeAll(keepingCapacity: true)
            for node in state.nodes where !nodes[Int(node)].ends.isEmpty { ends += nodes[Int(node)].ends }
            visit(ends) { Self.path(to: current, states) }
            let isAfterSlash = universe == .oneReading && state.byte == ASCII.slash
            for byte in bytes(from: state.nodes, in: universe, afterSlash: isAfterSlash) {
                let reached = step(state.nodes, byte)
                guard budget.spend(state.nodes.count + 4) else { return false }
                let key = StateKey(nodes: reached, isAfterSlash: universe == .oneReading && byte == ASCII.slash)
                guard seen.insert(key).inserted else { continue }
                states.append(State(nodes: reached, parent: Int32(current), byte: byte))
            }
            current += 1
        }
        return true
    }

    private static func path(to state: Int, _ states: [State]) -> [UInt8] {
        var path: [UInt8] = []
        var index = state
        while index >= 0 {
            path.append(states[index].byte)
            index = Int(states[index].parent)
        }
        return path.reversed()
    }

    /// One byte for each different state that can follow: the bytes of the literals, a slash, and one byte for all others.
    private func bytes(from state: [Int32], in universe: PathUniverse, afterSlash: Bool) -> [UInt8] {
        var isLiteral = [Bool](repeating: false, count: 256)
        var bytes: [UInt8] = []
        func add(_ byte: UInt8) {
            guard !isLiteral[Int(byte)] else { return }
            isLiteral[Int(byte)] = true
            if universe.contains(byte, afterSlash: afterSlash) { bytes.append(byte) }
        }
        for node in state { for edge in nodes[Int(node)].bytes { add(edge.byte) } }
        add(ASCII.slash)
        let other = Self.ordinaryBytes.first { !isLiteral[Int($0)] && universe.contains($0, afterSlash: afterSlash) }
        if let other { bytes.append(other) }
        return bytes
    }

    /// All bytes, in the order in which they are chosen for examples: bytes that are easy to read in a path come first.
    private static let ordinaryBytes: [UInt8] =
        Array("xyzabcdefghijklmnopqrstuvw0123456789-_".utf8) + Array(0x21...0xFF) + Array(0...0x20)

    private func step(_ state: [Int32], _ byte: UInt8) -> [Int32] {
        var reached: [Int32] = []
        for node in state {
            switch nodes[Int(node)].loop {
            case .none: break
            case .segment: if byte != ASCII.slash { reached.append(node) }
            case .across: reached.append(node)
            }
            if let next = next(node, byte) { close(over: next, into: &reached) }
        }
        reached.sort()
        var count = 0
        for node in reached where count == 0 || reached[count - 1] != node {
            reached[count] = node
            count += 1
        }
        reached.removeLast(reached.count - count)
        return reached
    }

    /// Adds the node, and the nodes for stars that directly follow it.
    private func close(over node: Int32, into reached: inout [Int32]) {
        reached.append(node)
        let stars = nodes[Int(node)]
        if stars.segment >= 0 { reached.append(stars.segment) }
        if stars.across >= 0 { reached.append(stars.across) }
        if stars.betweenSlashes >= 0 {
            reached.append(stars.betweenSlashes)
            if let skipped = next(stars.betweenSlashes, ASCII.slash) { close(over: skipped, into: &reached) }
        }
    }
}

/// The number of steps that a comparison may still take.
struct StepBudget {
    private var left: Int

    init(_ steps: Int) { left = steps }

    var isSpent: Bool { left <= 0 }

    /// - Returns: `false` if no step is left.
    mutating func spend(_ steps: Int) -> Bool {
        left -= steps
        return left > 0
    }
}
