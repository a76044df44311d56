import LarderSettings
import ProxyPolicy

/// What reading 10,000 rules costs, compared with reading their YAML.
enum LoadingBench {
    static func run() {
        let yaml = "rules:\n" + (0..<10_000).map(rule).joined()
        guard let root = try? YAMLReader.read(yaml), case .mapping(let entries) = root.value, let rules = entries.first?.value
        else {
            preconditionFailure("the rules are right")
        }
        let reading = best { _ = try? YAMLReader.read(yaml) }
        let compiling = best { _ = try? PolicyRuleSet(parsing: rules) }
        print("YAML \(reading) ms, rules \(compiling) ms: \(reading + compiling) in place of \(reading)")
    }

    private static func rule(_ number: Int) -> String {
        "- {name: r\(number), match: {host: h\(number / 5).example.net, path: /v\(number)/**, method: [GET, HEAD]}, allow: {}}\n"
    }

    /// In milliseconds.
    private static func best(_ body: () -> Void) -> Int64 {
        let clock = ContinuousClock()
        return (0..<10).map { _ in
            let spent = clock.measure(body)
            return spent.components.seconds * 1000 + spent.components.attoseconds / 1_000_000_000_000_000
        }.min() ?? 0
    }
}
