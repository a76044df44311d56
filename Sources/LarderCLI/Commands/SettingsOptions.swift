import ArgumentParser
import CommandSupport
import LarderSettings
import ProxyPolicy
import TextCoding

/// The options for settings, shared by all subcommands that read them.
struct SettingsOptions: ParsableArguments {
    @Option(name: [.short, .long], help: ArgumentHelp("The settings file.", valueName: "file"))
    var config: String?

    @Option(name: .long, help: ArgumentHelp("Set any setting by its dotted name; the value is YAML.", valueName: "name=value"))
    var set: [String] = []

    init() {}

    /// The options of a command whose argument is the settings file.
    init(file: String?) {
        config = file
        set = []
    }

    /// Whether the options give any setting other than the path of the admin socket.
    var setsMoreThanTheSocket: Bool {
        let namesSocket = set.contains { $0.hasPrefix("admin.socket=") }
        return set.contains { !$0.hasPrefix("admin.socket=") } || config != nil && !namesSocket
    }

    /// Loads the settings and prints warnings. Problems are printed and end the command with exit code 2.
    /// - Parameters:
    ///   - defaults: settings in the form of `--set`, which the user's `--set` overrides.
    ///   - project: the settings of a project's folder.
    ///   - policy: a file whose settings override the settings file's.
    ///   - trustFiles: reads the files that `tls:` names; `nil` if they are not needed.
    ///   - runsTests: rejects settings whose `tests` fail.
    ///   - hasChild: whether this process starts a program (see `ProcessMemorySecrecy`).
    func load(
        flags: [(flag: String, name: String, value: SettingsNode)] = [], defaults: [String] = [], policy: String? = nil,
        project: ProjectSettings? = nil,
        trustFiles: TrustFiles? = nil, runsTests: Bool = false, hasChild: Bool = false
    ) throws(ExitCode) -> LoadedSettings {
        // The files that `tls:` names include keys and passphrases.
        if trustFiles != nil { ProcessMemorySecrecy.begin(hasChild: hasChild) }
        var sources = SettingsSources(
            file: config, policy: policy, project: project, assignments: defaults + set, flags: flags, trustFiles: trustFiles)
        sources.runsTests = runsTests
        let loaded = sources.load()
        for warning in loaded.warnings { Terminal.talk("larder: \(warning)\n") }
        switch loaded.outcome {
        case .settings(let settings):
            for notice in loaded.notices { Terminal.talk("larder: \(printable(notice, limit: 4096))\n") }
            return LoadedSettings(
                settings: settings, file: loaded.file, sources: sources, emptyFiles: loaded.emptyFiles, remarks: loaded.remarks,
                origins: loaded.origins)
        case .problems(let problems):
            for problem in problems { Terminal.talk("\(problem)\n") }
            throw ExitCode(2)
        }
    }

    /// Loads the settings as `config check` does: with the files that they name, and with their tests.
    /// - Parameter runsTests: rejects settings whose `tests` fail.
    func loadChecked(runsTests: Bool = true) throws(ExitCode) -> LoadedSettings {
        try load(trustFiles: TrustFiles(), runsTests: runsTests)
    }
}
