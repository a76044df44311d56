import CommandSupport
import Foundation
import ProxyPolicy
import TextCoding

/// The sources of settings, in ascending precedence: the settings file, the policy file, the environment, and flags (`--set`, then
/// dedicated flags).
package struct SettingsSources: Sendable {
    /// The file that `-c` names, which must exist. `nil` means the first default file that exists, if any.
    var file: String?
    /// The file that `--policy` names. Its settings override those of the first file.
    var policy: String?
    /// The settings of a project's folder. They override the settings file, and the policy file overrides them.
    package var project: ProjectSettings?
    /// The arguments of `--set`, each `name=value` with a value in YAML.
    var assignments: [String]
    /// Values of dedicated flags (`--listen`, `--store`): for each, the flag, the setting and its value.
    var flags: [(flag: String, name: String, value: SettingsNode)]
    package var environment: [String: String]
    /// Reads the files that `tls:` names. `nil` for a command that does not serve and does not need these files.
    package var trustFiles: TrustFiles?
    /// Whether settings whose `tests` fail are rejected: true for `larder serve`, and for commands that check settings.
    package var runsTests = false

    package init(
        file: String? = nil, policy: String? = nil, project: ProjectSettings? = nil, assignments: [String] = [],
        flags: [(flag: String, name: String, value: SettingsNode)] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment, trustFiles: TrustFiles? = nil
    ) {
        self.file = file
        self.policy = policy
        self.project = project
        self.assignments = assignments
        self.flags = flags
        self.environment = environment
        self.trustFiles = trustFiles
    }

    package struct Loaded {
        package var outcome: SettingsReader.Outcome
        /// The file that was read.
        package var file: String?
        /// Warnings that do not prevent a start.
        package var warnings: [String] = []
        /// The names of files that were read but set nothing.
        package var emptyFiles: [String] = []
        /// Messages about a project's settings.
        package var notices: [String] = []
        /// Messages about possible mistakes: a file that sets nothing, or a key without a value.
        package var remarks: [String] = []
        /// The source of each setting that a source sets: a file, an environment variable or an option.
        package var origins: [String: String] = [:]
    }

    /// - Parameter isFirst: whether this is the first reading. The file may then be a pipe, which can be read only once.
    package func load(isFirst: Bool = true) -> Loaded {
        var layers: [SettingsLayer] = []
        var unreadable: [LocatedProblem] = []
        var warnings: [String] = []
        var emptyFiles: [String] = []
        var remarks: [String] = []
        var notices: [String] = []
        var digest: String?

        let path = file ?? Self.usualFile(environment)
        func add(fileAt path: String) {
            let files = RuleFiles(at: path, mayBePipe: isFirst)
            unreadable += files.problems
            guard files.problems.isEmpty else { return }
            var layer = SettingsLayer(name: path, root: files.root, folder: Self.folder(of: path))
            layer.includedFiles = files.names
            layers.append(layer)
            if SettingsLoss.isEmpty(files.root) { emptyFiles.append(path) }
            emptyFiles += files.emptyNames
            remarks += SettingsLoss.remarks(on: files.root, in: path) + files.emptyNames.map { "\($0) has no rules" }
        }
        if let path { add(fileAt: path) }
        if let project {
            do throws(SettingsProblems) {
                let read = try project.read(environment)
                if let layer = read.layer { layers.append(layer) }
                notices += read.notice.map { [$0] } ?? []
                warnings += read.warning.map { [printable($0, limit: 4096)] } ?? []
                digest = read.digest
            } catch {
                unreadable += error.all.map { LocatedProblem(source: project.folder.policy, problem: $0) }
            }
        }
        if let policy { add(fileAt: policy) }
        func add(_ layer: Result<SettingsLayer, SettingsProblems>, from source: String) {
            switch layer {
            case .success(let layer): layers.append(layer)
            case .failure(let problems): unreadable += problems.all.map { LocatedProblem(source: source, problem: $0) }
            }
        }
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("LARDER_") {
            guard let known = Self.names.first(where: { Setting.environmentName(of: $0) == name }) else {
                // An unknown variable is not an error: an orchestrator may set LARDER_PORT_3180_TCP for a service named larder. The
                // names are compared without their common prefix, which would make all names look similar.
                let nearest = NearestName.of(
                    String(name.dropFirst(7)), among: SettingsSchema.settings.map { String($0.environmentName.dropFirst(7)) })
                if let nearest { warnings.append("\(printable(name)) is not a setting; did you mean LARDER_\(nearest)?") }
                continue
            }
            add(Self.layer(named: name, setting: known, text: text), from: name)
        }
        for assignment in assignments {
            let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let source = "--set \(printable(parts[0]))"
            if parts.count == 2 {
                add(Self.layer(named: source, setting: parts[0], text: parts[1]), from: source)
            } else {
                unreadable.append(
                    LocatedProblem(source: source, problem: SettingsProblem("expected name=value", path: "", at: .none)))
            }
        }
        for flag in flags {
            if let layer = SettingsLayer(name: flag.flag, dotted: flag.name, value: flag.value) { layers.append(layer) }
        }

        for index in layers.indices {
            do throws(SettingsProblems) {
                try RenamedSetting.apply(to: &layers[index], warnings: &warnings)
                RemovedSetting.apply(to: &layers[index], warnings: &warnings)
            } catch {
                unreadable += error.all.map { LocatedProblem(source: layers[index].name, problem: $0) }
            }
        }

        // Problems of the sources and of the settings are reported together, so that a broken `--set` does not hide a wrong key in the
        // file.
        var outcome = SettingsReader.read(layers, trustFiles: trustFiles)
        // The user's decision must cover the content that was read, including the files that the settings name.
        if let project, let digest, !project.isUnchanged(since: digest) {
            let problems = ProjectSettings.problem(
                "this project's files changed while Larder read them, so Larder uses none of them")
            unreadable += problems.all.map { LocatedProblem(source: project.folder.policy, problem: $0) }
        }
        if runsTests, unreadable.isEmpty, case .settings(let settings) = outcome {
            let source = layers.last { SettingsReader.names(in: $0.root).contains("tests") }?.name ?? "tests"
            let failed = settings.failedTests(in: source)
            if !failed.isEmpty { outcome = .problems(failed) }
        }
        if !unreadable.isEmpty {
            if case .problems(let problems) = outcome { unreadable += problems }
            outcome = .problems(unreadable)
        }
        var loaded = Loaded(
            outcome: outcome, file: path, warnings: warnings, emptyFiles: emptyFiles, notices: notices, remarks: remarks)
        // Later sources override earlier ones.
        for layer in layers { for name in SettingsReader.names(in: layer.root) { loaded.origins[name] = layer.name } }
        return loaded
    }

    /// All names that environment variables may have, including names of settings in the previous version.
    private static let names =
        SettingsSchema.settings.map(\.name) + RenamedSetting.all.map(\.old) + RemovedSetting.all.map(\.name)

    /// The default file: `$XDG_CONFIG_HOME/larder/config.yaml`, or else `/etc/larder/config.yaml`; `nil` if neither exists.
    static func usualFile(_ environment: [String: String]) -> String? {
        let user = UserFolders(environment).configuration.map { "\($0)/config.yaml" }
        return [user, "/etc/larder/config.yaml"].compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
    }

    private static func folder(of path: String) -> String { URL(filePath: path).deletingLastPathComponent().path }

    /// A value that is not from a file. It has no line, so its problems name only the setting.
    private static func layer(named name: String, setting: String, text: String) -> Result<SettingsLayer, SettingsProblems> {
        Result { () throws(SettingsProblems) in
            var problems = SettingsProblems()
            guard !text.allSatisfy(\.isWhitespace) else {
                problems.add("the setting has no value", path: setting, at: .none)
                throw problems
            }
            do throws(SettingsProblems) {
                let value = try YAMLReader.read(text).withoutPlaces
                if endsWithColon(text, as: value) {
                    problems.add(
                        "YAML reads a value that ends with `:` as a mapping: put it in quotes, as in '\":memory:\"'",
                        path: setting, at: .none)
                } else if let layer = SettingsLayer(name: name, dotted: setting, value: value) {
                    return layer
                } else {
                    problems.add("expected a setting's name", path: "", at: .none)
                }
            } catch {
                for problem in error.all { problems.add(problem.message, path: problem.path, at: .none) }
            }
            throw problems
        }
    }

    /// Whether YAML would read the text as a key without a value: it reads `:memory:` as the key `:memory`.
    private static func endsWithColon(_ text: String, as value: SettingsNode) -> Bool {
        guard case .mapping(let entries) = value.value, entries.count == 1, case .scalar(let only) = entries[0].value.value else {
            return false
        }
        return only.isNull && text.last { !$0.isWhitespace } == ":"
    }
}

extension SettingsNode {
    /// Reads a single value that is not from a file.
    package static func plain(_ text: String) -> SettingsNode {
        SettingsNode(.scalar(SettingsScalar(text, isQuoted: true)), at: .none)
    }

    fileprivate var withoutPlaces: SettingsNode {
        switch value {
        case .scalar: SettingsNode(value, at: .none)
        case .sequence(let nodes): SettingsNode(.sequence(nodes.map(\.withoutPlaces)), at: .none)
        case .mapping(let entries):
            SettingsNode(
                .mapping(entries.map { SettingsNode.Entry(key: $0.key, at: .none, value: $0.value.withoutPlaces) }), at: .none)
        }
    }
}
