import HTTPMessage
import ProxyPolicy

/// Finds conditions that no request can meet. This considers only hosts, schemes, ports, methods and paths.
enum RuleContradiction {
    /// Why no request can match; `nil` if a request can match, or if Larder does not know.
    static func reason(in condition: RuleCondition, budget: inout StepBudget) -> String? {
        if condition.isForConnectOnly, let reason = reasonOfConnect(in: condition) { return reason }
        if !condition.methods.isEmpty, !condition.operations.isEmpty, !condition.hasMethodOfOperation {
            return "no request of the operation in `operation` uses a method in `method`"
        }
        if isExcluded(condition, budget: &budget) { return "`not` excludes every request that the other conditions match" }
        return nil
    }

    private static func reasonOfConnect(in condition: RuleCondition) -> String? {
        if !condition.paths.isEmpty, !condition.paths.contains(where: \.matchesEveryPath) {
            return "a CONNECT request has no path"
        }
        if !condition.queries.isEmpty { return "a CONNECT request has no query" }
        if !condition.contentLengths.isEmpty { return "the content of a CONNECT request has no length" }
        if !condition.schemes.isEmpty, !condition.schemes.contains(.https) {
            return "a CONNECT request has the scheme https, which `scheme` does not list"
        }
        return nil
    }

    /// Whether the exclusions exclude every request that meets the condition. A single exclusion may do so. So may several exclusions
    /// together, if each has only one key and all have the same key.
    private static func isExcluded(_ condition: RuleCondition, budget: inout StepBudget) -> Bool {
        let exclusions = condition.exclusions.filter(\.isForURLsOnly)
        if exclusions.isEmpty { return false }
        // The methods and paths of an operation are not compared here.
        var inner = condition
        inner.otherWords = []
        if inner.schemes.isEmpty { inner.schemes = [.http, .https] }
        for exclusion in exclusions where budget.spend(8) {
            if RuleCoverage.covers(exclusion, inner, budget: &budget) { return true }
        }
        return joined(exclusions).contains { budget.spend(8) && RuleCoverage.covers($0, inner, budget: &budget) }
    }

    /// The exclusions that have only one key. All exclusions with the same key are combined into one.
    private static func joined(_ exclusions: [RuleCondition]) -> [RuleCondition] {
        var (hosts, schemes, ports, methods) = (RuleCondition(), RuleCondition(), RuleCondition(), RuleCondition())
        for exclusion in exclusions where exclusion.wordCount == 1 {
            hosts.hosts += exclusion.hosts
            schemes.schemes += exclusion.schemes
            ports.ports += exclusion.ports
            methods.methods += exclusion.methods
        }
        return [hosts, schemes, ports, methods].filter { $0.wordCount == 1 }
    }
}

extension RuleCondition {
    /// Whether the condition lists methods, and all of them are CONNECT.
    var isForConnectOnly: Bool { !methods.isEmpty && methods.allSatisfy { $0.method == .connect } }

    fileprivate var hasMethodOfOperation: Bool {
        operations.contains { $0.methods.isEmpty || $0.methods.contains(where: methods.contains) }
    }

    /// Whether the condition depends only on the URL without its query, and on the method.
    fileprivate var isForURLsOnly: Bool {
        queries.isEmpty && fields.isEmpty && contentLengths.isEmpty && operations.isEmpty && client.addresses.isEmpty
            && client.users.isEmpty && client.certificates.isEmpty && client.runs.isEmpty && wordCount > 0
    }

    /// The number of keys in the condition that restrict the URL or the method.
    fileprivate var wordCount: Int {
        [hosts.isEmpty, schemes.isEmpty, ports.isEmpty, methods.isEmpty, paths.isEmpty].count { !$0 }
    }
}
