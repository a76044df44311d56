import ArgumentParser
import LarderSettings

extension PolicyCommand {
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a settings file and its rules; exits with 2 if it has mistakes.")

        @Argument(help: "The settings file.")
        var file: String

        func run() throws {
            let options = SettingsOptions(file: file)
            CheckedSettings(try options.load(trustFiles: TrustFiles()), allowsEmpty: false).tell()
        }
    }
}
