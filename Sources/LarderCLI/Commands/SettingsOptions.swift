import ArgumentParser
import ProxyPolicy

/// The options by which settings are given, the same for every verb that reads them.
struct SettingsOptions: ParsableArguments {
    @Option(name: [.short, .long], help: ArgumentHelp("The settings file.", valueName: "file"))
    var config: String?

    @Option(name: .long, help: ArgumentHelp("Sets any setting, by its dotted name; the value is YAML.", valueName: "name=value"))
    var set: [String] = []

    /// The settings in force, after warnings were said. Problems are said and end the command with exit code 2.
    /// - Parameters:
    ///   - defaults: as `--set` has them, for what nobody has set there.
    ///   - policy: a file whose settings take the place of the settings file's.
    ///   - trustFiles: what reads the files that `tls:` names; `nil` where they are not needed.
    ///   - hasChild: as `ProcessMemorySecrecy` wants to know it.
    func load(
        flags: [(flag: String, name: String, value: SettingsNode)] = [], defaults: [String] = [], policy: String? = nil,
        trustFiles: TrustFiles? = nil, hasChild: Bool = false
    ) throws(ExitCode) -> LoadedSettings {
        // Among the files are keys and passphrases.
        if trustFiles != nil { ProcessMemorySecrecy.begin(hasChild: hasChild) }
        let sources = SettingsSources(
            file: config, policy: policy, assignments: defaults + set, flags: flags, trustFiles: trustFiles)
        let loaded = sources.load()
        for warning in loaded.warnings { Terminal.talk("larder: \(warning)\n") }
        switch loaded.outcome {
        case .settings(let settings):
            return LoadedSettings(settings: settings, file: loaded.file, sources: sources)
        case .problems(let problems):
            for problem in problems { Terminal.talk("\(problem)\n") }
            throw ExitCode(2)
        }
    }
}

/// Settings together with where they came from, so that they can be read again.
struct LoadedSettings {
    let settings: LarderSettings
    let file: String?
    let sources: SettingsSources
}
