import LarderSettings
import PolicyTools
import ProxyPolicy

/// What `larder policy diff` costs beside loading the two files, with 10,000 rules over 2,000 hosts in each.
///
///     swift run -c release PolicyDiffBench
///
/// Exits with 1 if a comparison takes more than 20 times as long as loading.
enum PolicyDiffBench {
    private static let allowed = 20.0

    static func run() -> Bool {
        let old = text { "/project\($0)/**" }
        let cases: [(String, String)] = [
            ("no rule", old), ("one rule in 100", text { $0 % 100 == 0 ? "/other\($0)/**" : "/project\($0)/**" }),
            ("every rule", text { "/other\($0)/*/x" }), ("the default", text(default: "allow") { "/project\($0)/**" }),
        ]
        print("| What differs | loading both, ms | comparing, ms | changes |")
        print("| --- | --- | --- | --- |")
        var isGood = true
        for (name, new) in cases {
            let clock = ContinuousClock()
            let start = clock.now
            let policies = [old, new].map(policy)
            let loaded = clock.now
            let found = PolicyComparison.differences(from: policies[0], to: policies[1])
            let compared = clock.now
            let loading = milliseconds(loaded - start)
            let comparing = milliseconds(compared - loaded)
            print("| \(name) | \(Int(loading)) | \(Int(comparing)) | \(found.changes.count)\(found.isCut ? " and more" : "") |")
            isGood = isGood && comparing <= allowed * loading && found.notCompared.isEmpty
        }
        return isGood
    }

    private static func text(default: String = "deny", _ path: (Int) -> String) -> String {
        var text = "egress: {default: \(`default`)}\nrules:\n"
        for number in 0..<10_000 {
            text += "  - {name: r\(number), match: {host: h\(number % 2000).example, path: \(path(number))}, allow: {}}\n"
        }
        return text
    }

    private static func policy(_ text: String) -> PolicyRuleSet {
        guard let root = try? YAMLReader.read(text),
            case .settings(let settings) = SettingsReader.read([SettingsLayer(name: "bench", root: root)])
        else { preconditionFailure("the settings are valid") }
        return settings.policy
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
    }
}
