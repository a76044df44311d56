/// Which node serves which slots, from the reply to CLUSTER SLOTS.
package struct ClusterTopology: Equatable, Sendable {
    /// The masters, in order of their first slot. No node is listed twice.
    package private(set) var nodes: [EngineAddress] = []
    /// The index of each slot's master in `nodes`, or `none`.
    private var owners = [UInt16](repeating: ClusterTopology.none, count: Int(HashSlot.count))

    private static let none = UInt16.max
    /// The maximum number of nodes: Redis recommends at most 1,000.
    package static let nodeLimit = 1024
    private static let hostLimit = 255

    /// - Parameters:
    ///   - reply: the reply to CLUSTER SLOTS.
    ///   - asked: the host that sent the reply. A node that does not know its own address leaves its host out.
    /// - Returns: `nil` if the reply is not a list of slots.
    package init?(_ reply: RESPValue, asked: String) {
        guard let ranges = reply.elements, ranges.count <= Int(HashSlot.count) else { return nil }
        for range in ranges {
            guard let parts = range.elements, parts.count >= 3, let first = parts[0].number, let last = parts[1].number,
                first >= 0, last >= first, last < Int64(HashSlot.count), let index = index(of: parts[2], asked: asked)
            else { return nil }
            for slot in Int(first)...Int(last) { owners[slot] = index }
        }
    }

    /// The master of a slot; `nil` if no node serves it.
    package func master(of slot: UInt16) -> EngineAddress? {
        let index = owners[Int(slot % HashSlot.count)]
        return index == Self.none ? nil : nodes[Int(index)]
    }

    /// How many slots have a master.
    package var servedCount: Int { owners.count { $0 != Self.none } }

    /// Notes that a node has taken over a slot (MOVED).
    /// - Returns: `false` if there would be too many nodes.
    @discardableResult
    package mutating func assign(_ slot: UInt16, to node: EngineAddress) -> Bool {
        guard slot < HashSlot.count, let index = index(of: node) else { return false }
        owners[Int(slot)] = index
        return true
    }

    private mutating func index(of part: RESPValue, asked: String) -> UInt16? {
        guard let words = part.elements, words.count >= 2, let port = words[1].number, (1...65_535).contains(port) else {
            return nil
        }
        var host = words[0].string ?? ""
        if host.isEmpty || host == "?" { host = asked }
        guard host.utf8.count <= Self.hostLimit else { return nil }
        return index(of: EngineAddress(host: host, port: UInt16(port)))
    }

    private mutating func index(of node: EngineAddress) -> UInt16? {
        if let known = nodes.firstIndex(of: node) { return UInt16(known) }
        guard nodes.count < Self.nodeLimit else { return nil }
        nodes.append(node)
        return UInt16(nodes.count - 1)
    }
}
