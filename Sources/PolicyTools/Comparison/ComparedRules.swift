import HTTPMessage
import ProxyPolicy

/// Which of two policies: the policy before a change, or after it.
enum Side: Int, CaseIterable { case old, new }

/// What a rule decides about whether a request may be forwarded.
enum RuleEffect {
    case allow, deny
    /// The rule decides nothing about forwarding: it only edits, caches or checks.
    case none

    /// The effect of a rule. Only this initializer says which keys of a rule decide about forwarding. Under `egress.default: allow`,
    /// rules with `allow` decide nothing. A rule that asks counts as one that allows: `AskedRules` compares the questions.
    init(_ rule: PolicyRule, under egress: EgressTerms) {
        let allows = (rule.allows || rule.asks) && egress.appliedDefault == .deny
        self = rule.denies(under: egress) ? .deny : allows ? .allow : .none
    }
}

/// A rule that decides about forwarding, prepared for comparison.
struct ComparedRule {
    let number: Int32
    let effect: RuleEffect
    let condition: RuleCondition
    let methods: [[UInt8]]
    /// The path patterns of the rule. If there are none, the rule matches every path.
    let paths: [PathTokens]
    /// A number for the rule's meaning besides its hosts. Rules with the same number, in either policy, have the same effect on the
    /// same requests.
    let meaning: Int32
    /// A number for the rule's `query`, and for whether the rule denies; 0 if the rule has no `query`. Rules with the same number match the
    /// same queries.
    let query: Int32
    /// A number for the keys that are compared only as text (`RuleCondition.otherWords`); 0 if there are none. Equal texts have the
    /// same number.
    let opaque: Int32

    func matches(_ scheme: RequestTarget.Scheme) -> Bool {
        condition.schemes.isEmpty || condition.schemes.contains(scheme)
    }

    func matches(port: UInt16) -> Bool { condition.ports.isEmpty || condition.ports.contains { $0.contains(port) } }

    func matches(method: [UInt8]) -> Bool { methods.isEmpty || methods.contains(method) }
}

/// Gives numbers to texts. The same text has the same number in both policies.
struct TextNumbers {
    private var numbers: [[UInt8]: Int32] = [[]: 0]

    mutating func number(of text: [UInt8]) -> Int32 {
        if let known = numbers[text] { return known }
        let number = Int32(numbers.count)
        numbers[text] = number
        return number
    }
}

/// The numbers that the rules of two policies share.
struct RuleNumbers {
    var meanings = TextNumbers()
    var queries = TextNumbers()
    var opaque = TextNumbers()
}

/// The rules of one policy that decide about forwarding, found by host.
struct ComparedRules {
    let rules: [ComparedRule]
    /// The indexes of the rules for any host.
    let hostless: [Int]
    private var byHost: [HostPattern: [Int]] = [:]

    init(_ policy: PolicyRuleSet, numbers: inout RuleNumbers) {
        var rules: [ComparedRule] = []
        var hostless: [Int] = []
        for (number, rule) in policy.rules.enumerated() {
            let effect = RuleEffect(rule, under: policy.egress)
            if effect == .none { continue }
            let condition = rule.condition
            if condition.hosts.isEmpty || condition.hosts.contains(.any) {
                hostless.append(rules.count)
            } else {
                for host in Set(condition.hosts) { byHost[host, default: []].append(rules.count) }
            }
            rules.append(
                ComparedRule(
                    number: Int32(number), effect: effect, condition: condition, methods: condition.methods.map(\.bytes),
                    paths: condition.paths.map(PathTokens.init),
                    meaning: numbers.meanings.number(
                        of: Self.meaning(of: condition, effect) + [rule.allowsAnyTunnel ? 1 : 0, rule.asks ? 1 : 0]),
                    query: numbers.queries.number(of: Self.query(of: condition, effect)),
                    opaque: numbers.opaque.number(of: condition.otherWords)))
        }
        self.rules = rules
        self.hostless = hostless
    }

    var hosts: Dictionary<HostPattern, [Int]>.Keys { byHost.keys }

    /// The indexes of the rules that name one of the patterns, in the order of the settings.
    func rules(naming patterns: [HostPattern]) -> [Int] {
        let found = patterns.compactMap { byHost[$0] }
        if found.count < 2 { return found.first ?? [] }
        return Set(found.joined()).sorted()
    }

    /// A text that is equal for two rules with the same meaning, apart from their hosts.
    static func meaning(of condition: RuleCondition, _ effect: RuleEffect) -> [UInt8] {
        var text: [UInt8] = [effect == .deny ? 1 : 0]
        func add(_ parts: [[UInt8]]) {
            for part in parts { text += [0xFF] + part }
            text.append(0xFE)
        }
        add(condition.ports.map { Array("\($0.lowerBound)-\($0.upperBound)".utf8) })
        add(condition.schemes.map { [$0 == .https ? 1 : 0] })
        add(condition.methods.map(\.bytes))
        add(condition.paths.map { Array($0.text.utf8) })
        add([condition.otherWords])
        return text + query(of: condition, effect)
    }

    /// A text that is equal for two rules that match the same queries; empty if the condition has no `query`. No value contains the
    /// separators, because values are UTF-8.
    private static func query(of condition: RuleCondition, _ effect: RuleEffect) -> [UInt8] {
        if condition.queries.isEmpty { return [] }
        let conditions = condition.queries.map { query -> [UInt8] in
            let values = query.values.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
            return [0xFE] + query.name + values.flatMap { [0xFF] + $0 }
        }
        return conditions.sorted { $0.lexicographicallyPrecedes($1) }.reduce([effect == .deny ? 1 : 0], +)
    }
}
