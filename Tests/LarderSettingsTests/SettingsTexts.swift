import ProxyPolicy

@testable import LarderSettings

struct Refused: Error {
    let problems: [String]
}

/// Settings parsed from a text, as from a file called `larder.yaml`.
func settings(_ yaml: String) throws -> LarderSettings {
    switch outcome(yaml) {
    case .settings(let settings): return settings
    case .problems(let problems): throw Refused(problems: problems.map(\.description))
    }
}

/// The problems of a text, one by one.
func problems(_ yaml: String) -> [String] {
    guard case .problems(let problems) = outcome(yaml) else { return [] }
    return problems.map(\.description)
}

private func outcome(_ yaml: String) -> SettingsReader.Outcome {
    do throws(SettingsProblems) {
        return SettingsReader.read([SettingsLayer(name: "larder.yaml", root: try YAMLReader.read(yaml))])
    } catch {
        return .problems(error.all.map { LocatedProblem(source: "larder.yaml", problem: $0) })
    }
}
