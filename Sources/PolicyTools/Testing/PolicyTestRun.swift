import HTTPMessage
import ProxyPolicy

/// The tests of a policy with their outcomes.
package struct PolicyTestRun: Sendable {
    package struct Outcome: Sendable {
        package let test: PolicyTest
        package let decision: PolicyDecision
        /// Why the test fails; `nil` if it passes.
        package let failure: String?
    }

    package let outcomes: [Outcome]
    /// The rules that match no request of any test, in the order of the settings.
    package let unmatchedRules: [String]
    package let ruleCount: Int

    package var failures: [Outcome] { outcomes.filter { $0.failure != nil } }

    package init(_ tests: [PolicyTest], of policy: PolicyRuleSet) {
        var matched = MatchedRules()
        var seen: Set<String> = []
        let names = policy.rules.map(\.name)
        let known = Set(names)
        outcomes = tests.map { test in
            let decision = PolicyDecision(test.request, under: policy, into: &matched)
            seen.formUnion(decision.matched)
            var fields = test.request.head.fields
            matched.editRequest(&fields)
            return Outcome(
                test: test, decision: decision, failure: Self.failure(of: test, decision, fields, known, names))
        }
        unmatchedRules = names.filter { !seen.contains($0) }
        ruleCount = names.count
    }

    private static func failure(
        of test: PolicyTest, _ decision: PolicyDecision, _ fields: Fields, _ known: Set<String>, _ names: [String]
    ) -> String? {
        guard test.expected.accepts(decision.word) else {
            return "expected \(test.expected.text), but the request is \(decision.text)"
        }
        if let rule = test.rule {
            guard known.contains(rule) else {
                let hint = NearestName.of(rule, among: names).map { "; did you mean `\($0)`?" } ?? ""
                return "no rule is named `\(rule)`\(hint)"
            }
            let decides = decision.word == .deniedByRule ? decision.rule == rule : decision.matched.contains(rule)
            if !decides { return "expected the rule `\(rule)`, but the request is \(decision.text)" }
        }
        for edit in test.edits {
            let found = fields.value(ofAllLinesNamed: Array(edit.name.lowercased().utf8)).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard found != edit.value else { continue }
            // The message does not show the field's value, because edits often add a credential.
            if edit.value == nil { return "expected no field \(edit.name) after the edits, but found the field" }
            return found == nil
                ? "expected the field \(edit.name) after the edits, but the field is missing"
                : "the field \(edit.name) does not have the expected value after the edits"
        }
        return nil
    }
}
