/// One `http_access` line as the match of a rule.
struct SquidRule {
    let line: Int
    let allows: Bool
    /// Each is a condition of its own; `nil` for every request.
    var urls: [SquidACL.SquidURL]?
    var hosts: [String]?
    var ports: [ClosedRange<UInt16>]?
    var methods: [String]?
    var schemes: [String]?
    var paths: [String]?
    var clients: [String]?

    init(line: Int, allows: Bool) {
        self.line = line
        self.allows = allows
    }

    var isForEveryRequest: Bool {
        urls == nil && hosts == nil && ports == nil && methods == nil && schemes == nil && paths == nil && clients == nil
    }

    /// Whether the line looks only at the client.
    var isForClientsAlone: Bool {
        clients != nil && urls == nil && hosts == nil && ports == nil && methods == nil && schemes == nil && paths == nil
    }

    /// Adds a condition.
    /// - Returns: why a rule cannot express it; `nil` if it can.
    mutating func add(_ acl: SquidACL) -> String? {
        let twice = "it has two conditions of the same kind"
        func set<Value>(_ place: inout [Value]?, _ values: [Value]) -> String? {
            if place != nil { return twice }
            place = values
            return nil
        }
        switch acl {
        case .everything: return nil
        case .hosts(let values): return set(&hosts, values)
        case .ports(let values): return set(&ports, values)
        case .methods(let values): return set(&methods, values)
        case .schemes(let values): return set(&schemes, values)
        case .paths(let values): return set(&paths, values)
        case .clients(let values): return set(&clients, values)
        case .urls(let values):
            return hosts != nil || ports != nil || schemes != nil || paths != nil ? twice : set(&urls, values)
        case .inexpressible(let reason): return reason
        }
    }

    /// Whether no request matches both lines, as far as hosts, ports and methods tell.
    func isDisjoint(with other: SquidRule) -> Bool {
        if let mine = methods, let others = other.methods, Set(mine).isDisjoint(with: others) { return true }
        if let mine = schemes, let others = other.schemes, Set(mine).isDisjoint(with: others) { return true }
        if let mine = ports, let others = other.ports, !mine.contains(where: { range in others.contains { $0.overlaps(range) } })
        {
            return true
        }
        guard let mine = hosts ?? urls?.map(\.host), let others = other.hosts ?? other.urls?.map(\.host) else { return false }
        return !mine.contains { one in others.contains { Self.overlap(one, $0) } }
    }

    private static func overlap(_ left: String, _ right: String) -> Bool {
        func isBelow(_ host: String, _ pattern: String) -> Bool {
            pattern.hasPrefix("*.") && (host.hasPrefix("*.") ? host.dropFirst() : host[...]).hasSuffix(pattern.dropFirst())
        }
        return left == right || isBelow(left, right) || isBelow(right, left)
    }
}
