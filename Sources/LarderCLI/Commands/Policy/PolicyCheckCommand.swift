import ArgumentParser
import LarderSettings

extension PolicyCommand {
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a settings file, its rules and its tests; exits with 2 if it has mistakes.",
            discussion:
                "The same as `larder config check -c FILE`. Warns about rules that never match and rules that other rules override."
        )

        @Argument(help: "The settings file.")
        var file: String

        func run() throws {
            let loaded = try SettingsOptions(file: file).loadChecked()
            CheckedSettings(loaded, allowsEmpty: false).tell()
        }
    }
}
