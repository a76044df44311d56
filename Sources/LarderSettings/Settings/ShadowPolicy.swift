import ProxyPolicy

/// A second policy, which is not applied. Larder compares its verdicts with those of the active policy. The setting `policy.shadow`
/// names it.
package struct ShadowPolicy: Equatable, Sendable {
    /// The path of a settings file, of which only `egress` and `rules` are used.
    package var file: String?
    /// The rules of the file; `nil` if no file is set, or if the file was not read.
    package var loaded: PolicyRuleSet?

    package static func == (left: ShadowPolicy, right: ShadowPolicy) -> Bool { left.file == right.file }

    /// Reads the file.
    /// - Returns: the problems in the file, with its name. If there are none, `loaded` is set.
    mutating func load(_ origins: [String: SettingsReader.Origin]) -> [LocatedProblem] {
        guard let file else { return [] }
        let origin = origins[Self.name] ?? SettingsReader.Origin(layer: "settings", place: .none)
        let path = origin.path(of: file)
        let root: SettingsNode
        do throws(SettingsProblems) {
            root = try SettingsFile.node(at: path)
        } catch {
            return error.all.map { problem in
                guard problem.place == .none else { return LocatedProblem(source: path, problem: problem) }
                return LocatedProblem(
                    source: origin.layer,
                    problem: SettingsProblem("cannot read \(path): \(problem.message)", path: Self.name, at: origin.place))
            }
        }
        switch SettingsReader.read([SettingsLayer(name: path, root: root)]) {
        case .settings(let settings):
            loaded = settings.policy
            return []
        case .problems(let problems): return problems
        }
    }

    static let name = "policy.shadow"
}
