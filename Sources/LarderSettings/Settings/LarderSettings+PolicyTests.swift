import PolicyTools
import ProxyPolicy

extension LarderSettings {
    /// Runs the tests of the rules.
    package var policyTestRun: PolicyTestRun { PolicyTestRun(tests.read, of: policy) }

    /// The tests that fail, each as a problem in the settings.
    /// - Parameter source: the file that has the tests.
    func failedTests(in source: String) -> [LocatedProblem] {
        policyTestRun.failures.map { outcome in
            LocatedProblem(
                source: source,
                problem: SettingsProblem(
                    "\(outcome.test.title): \(outcome.failure ?? "")", path: "tests", at: outcome.test.place))
        }
    }
}

extension LarderSettings.Rules {
    /// The place of each rule in the rules' file; `SettingsPlace.none` for a rule that is not in this file.
    package var places: [SettingsPlace] {
        var byName: [String: SettingsPlace] = [:]
        if case .sequence(let nodes)? = node?.value {
            for node in nodes {
                guard case .mapping(let entries) = node.value,
                    case .scalar(let name)? = entries.first(where: { $0.key == "name" })?.value.value
                else { continue }
                byName[name.text] = node.place
            }
        }
        return compiled.rules.map { byName[$0.name] ?? .none }
    }
}
