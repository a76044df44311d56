import ProxyPolicy

/// One source of settings: a file, the environment, or a flag. A later layer overrides each setting of earlier layers that it sets.
package struct SettingsLayer: Sendable {
    /// The name of the source in messages: the file's path, `LARDER_LOOPS`, or `--set`.
    package let name: String
    /// The root of the source: a mapping, or another value if the file has one there.
    package internal(set) var root: SettingsNode
    /// The folder to which paths in the layer are relative.
    let folder: String
    /// The files that this source includes (`RuleFiles.names`).
    var includedFiles: [String] = []
    /// How much of the layer is used.
    var use = Use.own

    package init(name: String, root: SettingsNode, folder: String = ".") {
        self.name = name
        self.root = root
        self.folder = folder
    }

    /// The name of the file or other source that contains this place. The place may be in an included file.
    func source(of place: SettingsPlace) -> String { place.file == 0 ? name : includedFiles[place.file - 1] }

    /// A layer with one setting, given by its dotted name as in `--set` and in the environment.
    /// - Returns: `nil` if the name or a part of it is empty.
    package init?(name: String, dotted: String, value: SettingsNode) {
        let parts = dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !parts.contains("") else { return nil }
        let root = parts.reversed().reduce(value) { inner, key in
            SettingsNode(.mapping([SettingsNode.Entry(key: key, at: value.place, value: inner)]), at: value.place)
        }
        self.init(name: name, root: root)
    }
}

/// A problem, and the source in which it was found.
package struct LocatedProblem: Equatable, Sendable, CustomStringConvertible {
    package let source: String
    package let problem: SettingsProblem

    package init(source: String, problem: SettingsProblem) {
        self.source = source
        self.problem = problem
    }

    /// `FILE:LINE:COLUMN`; only the name of the source if the source is not a file.
    static func position(of place: SettingsPlace, in source: String) -> String {
        place == .none ? source : "\(source):\(place.line):\(place.column)"
    }

    /// `FILE:LINE:COLUMN: path: message; did you mean …?`, without line and column if the source is not a file.
    package var description: String {
        problem.place == .none
            ? problem.rendered(file: source).replacingFirst("\(source):0:0", with: source)
            : problem.rendered(file: source)
    }
}

/// Reads layers of settings into one value, and finds all problems in one pass.
package enum SettingsReader {
    package enum Outcome: Sendable {
        case settings(LarderSettings)
        case problems([LocatedProblem])
    }

    /// - Parameters:
    ///   - layers: the layers in ascending precedence; defaults have the lowest precedence.
    ///   - trustFiles: reads the files that `tls:` names; `nil` reads neither these files nor the file that `clients.passwords` names.
    package static func read(_ layers: [SettingsLayer], trustFiles: TrustFiles? = nil) -> Outcome {
        var settings = LarderSettings()
        var located: [LocatedProblem] = []
        var origins: [String: Origin] = [:]
        for layer in layers {
            var problems = SettingsProblems()
            let cursor = SettingsCursor(layer.root)
            if !cursor.isNull {
                let (former, formerOrigins) = (settings, origins)
                readGroup("", cursor, layer: layer, into: &settings, origins: &origins, problems: &problems)
                if problems.isEmpty {
                    settle(layer, &settings, over: former, &origins, formerOrigins, trustFiles: trustFiles, problems: &problems)
                }
            }
            located += problems.all.map { LocatedProblem(source: layer.source(of: $0.place), problem: $0) }
        }
        // Not after a problem: this check would see defaults in place of the invalid values, and its messages would be misleading.
        if located.isEmpty { located = SettingsConsistency.problems(in: settings, origins: origins) }
        if located.isEmpty {
            let rulesLayer = layers.last { $0.name == origins["rules"]?.layer }
            located = UpstreamWayLoading.problems(
                in: settings, origins: origins, rulesSource: { rulesLayer?.source(of: $0) ?? "settings" })
        }
        if located.isEmpty, let trustFiles {
            located = UpstreamWayLoading.load(&settings.upstream, trustFiles.environment, origins: origins)
        }
        if located.isEmpty, let trustFiles {
            located = TrustLoading.load(
                &settings.tls, files: trustFiles, needsAuthority: settings.listen.contains { $0.tls?.isOfAuthority == true },
                origins: origins)
        }
        if located.isEmpty, let connect = settings.tls.loaded?.connect, trustFiles?.interceptsNobody == false,
            let origin = origins["rules"]
        {
            let consistency = TunnelConsistency(settings, connect, rulesFrom: origin)
            located = consistency.problems
            settings.rules.warnings = consistency.warnings
        }
        if located.isEmpty, trustFiles != nil {
            located = PasswordLoading.load(&settings.clients, listen: settings.listen, origins: origins)
        }
        if located.isEmpty, trustFiles != nil { located = settings.shadow.load(origins) }
        if located.isEmpty, trustFiles != nil { settings.recordings.resolvePaths(origins) }
        if located.isEmpty, trustFiles != nil { located = ListenerLoading.load(&settings, origins: origins) }
        return located.isEmpty ? .settings(settings) : .problems(located)
    }

    /// Merges the permitted part of a project's settings. In the list of rules, the project's rules come before the user's rules. So
    /// the user's rules override them, and the user's denials still apply.
    private static func settle(
        _ layer: SettingsLayer, _ settings: inout LarderSettings, over former: LarderSettings, _ origins: inout [String: Origin],
        _ formerOrigins: [String: Origin], trustFiles: TrustFiles?, problems: inout SettingsProblems
    ) {
        if case .own = layer.use { return }
        if case .restricted(let terms) = layer.use {
            terms.settle(
                &settings, over: former, origins: &origins, formerOrigins: formerOrigins, of: layer, trustFiles: trustFiles,
                problems: &problems)
        }
        guard let origin = origins["rules"], origin.layer == layer.name else { return }
        let rules = settings.rules.compiled.rules + former.rules.compiled.rules
        guard rules.count <= PolicyLimits.rules else {
            problems.add(
                "your rules and the rules of the project are more than \(PolicyLimits.rules) in total", path: "rules",
                at: origin.place)
            return
        }
        func items(_ node: SettingsNode?) -> [SettingsNode] { if case .sequence(let nodes)? = node?.value { nodes } else { [] } }
        let nodes = items(settings.rules.node) + items(former.rules.node)
        if let own = formerOrigins["rules"] { origins["rules"]?.following = (own.layer, settings.rules.compiled.rules.count) }
        settings.rules = LarderSettings.Rules(
            node: SettingsNode(.sequence(nodes), at: origin.place), compiled: PolicyRuleSet(rules: rules))
    }

    /// The known settings that have a value in `root`.
    static func names(in root: SettingsNode, below group: String = "") -> [String] {
        guard case .mapping(let entries) = root.value else { return [] }
        return entries.flatMap { entry -> [String] in
            let name = RenamedSetting.current(group.isEmpty ? entry.key : "\(group).\(entry.key)")
            if SettingsSchema.groups.contains(name) { return names(in: entry.value, below: name) }
            return SettingsSchema.byName[name] != nil && !SettingsCursor(entry.value).isNull ? [name] : []
        }
    }

    /// Where a setting's value is from.
    package struct Origin: Sendable {
        let layer: String
        var folder = "."
        let place: SettingsPlace
        /// Set if a project's rules come before the user's rules: the layer of the user's rules, and the number of the first of them.
        var following: (layer: String, after: Int)?

        /// The path of a file that the setting names.
        package func path(of name: String) -> String { name.hasPrefix("/") ? name : "\(folder)/\(name)" }
    }

    private static func readGroup(
        _ group: String, _ cursor: SettingsCursor, layer: SettingsLayer, into settings: inout LarderSettings,
        origins: inout [String: Origin], problems: inout SettingsProblems
    ) {
        let names = SettingsSchema.names(below: group)
        let mapping = cursor.mapping(
            of: names, suggestion: { SettingsSchema.suggestion(for: $0, among: names) }, problems: &problems)
        guard let mapping else { return }
        for name in names {
            // A key without a value is treated as absent.
            guard let value = mapping[name], !value.isNull else { continue }
            let full = group.isEmpty ? name : "\(group).\(name)"
            if let setting = SettingsSchema.byName[full] {
                origins[full] = Origin(layer: layer.name, folder: layer.folder, place: value.node.place)
                setting.assign(value, &settings, &problems)
            } else {
                readGroup(full, value, layer: layer, into: &settings, origins: &origins, problems: &problems)
            }
        }
    }
}

extension String {
    fileprivate func replacingFirst(_ prefix: String, with replacement: String) -> String {
        hasPrefix(prefix) ? replacement + dropFirst(prefix.count) : self
    }
}
