import HTTPMessage
import ProxyPolicy

/// Finds the rules with `ask` that only one of two policies has.
enum AskedRules {
    /// A rule that asks closes what it matches, and a removed one opens it. A question with other words does both.
    static func changes(from old: PolicyRuleSet, to new: PolicyRuleSet) -> [(kind: PolicyChange.Kind, rules: [PolicyRule])] {
        [(.opens, lacking(old, new)), (.closes, lacking(new, old))]
    }

    /// The rules that ask in `policy` and have no counterpart in `other`.
    private static func lacking(_ policy: PolicyRuleSet, _ other: PolicyRuleSet) -> [PolicyRule] {
        let known = Set(asking(other).map(key))
        return asking(policy).filter { !known.contains(key(of: $0)) }
    }

    /// In report mode no request waits.
    private static func asking(_ policy: PolicyRuleSet) -> [PolicyRule] {
        policy.egress.enforcement == .deny ? policy.rules.filter { $0.asks } : []
    }

    private static func key(of rule: PolicyRule) -> [UInt8] {
        let hosts = rule.condition.hosts.map { "\($0)" }.sorted().joined(separator: " ")
        return ComparedRules.meaning(of: rule.condition, .none) + Array("\(hosts) \(rule.question?.description ?? "")".utf8)
    }

    /// A request that the rule may match.
    static func example(of rule: PolicyRule) -> (method: String, target: String, hosts: HostClass?) {
        let condition = rule.condition
        let host = HostClasses.all(of: Set(condition.hosts)).first
        let scheme: RequestTarget.Scheme = condition.schemes.first ?? .https
        let port = condition.ports.first?.lowerBound ?? scheme.defaultPort
        let shownPort = port == scheme.defaultPort ? "" : ":\(port)"
        let path = (condition.paths.first?.text ?? "/").replacing("**", with: "x").replacing("*", with: "x")
        let method = condition.methods.first.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "GET"
        let authority = host?.host ?? "other.example"
        if method == "CONNECT" { return (method, "\(authority):\(port)", host) }
        return (method, (scheme == .https ? "https://" : "http://") + authority + shownPort + path, host)
    }
}
