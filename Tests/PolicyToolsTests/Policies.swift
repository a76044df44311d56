import ProxyPolicy

/// Rules made in code: another module reads the YAML of files.
enum Policies {
    static func rule(
        _ name: String, _ hosts: [String] = [], ports: [ClosedRange<UInt16>] = [], methods: [String] = [], paths: [String] = [],
        denies: Bool = false, queries: KeyValuePairs<String, [String]> = [:], other: String = ""
    ) throws -> PolicyRule {
        var condition = RuleCondition()
        condition.hosts = try hosts.map { try HostPattern($0) }
        condition.ports = ports
        condition.methods = methods.compactMap { RuleCondition.MethodName($0) }
        condition.paths = try paths.map { try PathPattern($0) }
        condition.queries = queries.compactMap { name, values in
            QueryCondition(name: name, values: values.compactMap { ValuePattern($0) })
        }
        condition.otherWords = Array(other.utf8)
        return PolicyRule(name: name, condition: condition, reason: denies ? "no" : nil, allows: !denies)
    }

    static func denying(_ rules: PolicyRule...) -> PolicyRuleSet { PolicyRuleSet(rules: rules).under(EgressTerms(.deny)) }
}
