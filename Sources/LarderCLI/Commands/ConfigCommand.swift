import ArgumentParser
import CommandSupport
import LarderSettings
import ProxyPolicy
import TextCoding

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check, show and describe settings.",
        subcommands: [Check.self, Show.self, Schema.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check all settings and report problems; exits with 2 if a setting is wrong.")

        @Flag(help: "Do not warn about empty files and keys without a value.")
        var allowEmpty = false

        @OptionGroup var options: SettingsOptions

        func run() throws {
            let loaded = try options.loadChecked()
            CheckedSettings(loaded, allowsEmpty: allowEmpty).tell()
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Print the active settings as YAML, without secrets.")

        @OptionGroup var options: SettingsOptions

        func run() throws {
            Terminal.output(YAMLWriter.write(try options.load().settings))
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema", abstract: "Print a JSON Schema of the settings file, for editors.")

        enum Output: String, CaseIterable, ExpressibleByArgument { case json, markdown }

        @Option(name: [.short, .long], help: "The format: json, or markdown as in docs/configuration.md.")
        var output = Output.json

        func run() {
            switch output {
            case .json: Terminal.output(SettingsDocumentation.jsonSchema.written() + "\n")
            case .markdown: Terminal.output(SettingsDocumentation.markdown)
            }
        }
    }
}
