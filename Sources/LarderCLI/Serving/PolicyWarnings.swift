import LarderSettings
import ProxyPolicy

extension LarderSettings {
    /// Warnings about denials that are only reported.
    var policyWarnings: [String] {
        if egress.enforcement == .report {
            return [
                "egress.enforce is report: Larder forwards the requests that the rules deny, and larder status lists these requests"
            ]
        }
        return rules.compiled.rules.filter { $0.enforcement == .report }.prefix(1).map { rule in
            "the rule `\(rule.name)` has enforce: report: Larder forwards the requests that the rule denies, "
                + "and larder status lists these requests"
        }
    }
}
