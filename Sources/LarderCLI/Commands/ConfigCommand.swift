import ArgumentParser
import CommandSupport
import LarderSettings
import ProxyPolicy
import TextCoding

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Checks, shows and describes settings.",
        subcommands: [Check.self, Show.self, Schema.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Reads all settings and says what is wrong; exit code 2 if anything is.")

        @Flag(help: "Do not warn of a file, or of a key in it, that sets nothing.")
        var allowEmpty = false

        @OptionGroup var options: SettingsOptions

        func run() throws {
            let loaded = try options.load(trustFiles: TrustFiles())
            let remarks = allowEmpty ? [] : loaded.remarks
            for warning in remarks + loaded.settings.tls.warnings() + loaded.settings.admissionWarnings {
                Terminal.talk("larder: warning: \(printable(warning, limit: 4096))\n")
            }
            let count = loaded.settings.rules.compiled.rules.count
            let source = loaded.file ?? "no settings file"
            let verdict = loaded.file.map(loaded.emptyFiles.contains) == true ? "empty" : "good"
            Terminal.output("\(source): \(verdict), \(count) rule\(count == 1 ? "" : "s")\n")
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Prints the active settings as YAML, without secrets.")

        @OptionGroup var options: SettingsOptions

        func run() throws {
            Terminal.output(YAMLWriter.write(try options.load().settings))
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema", abstract: "Prints a JSON Schema of the settings file, for editors.")

        enum Output: String, CaseIterable, ExpressibleByArgument { case json, markdown }

        @Option(name: [.short, .long], help: "json, or markdown as in docs/configuration.md.")
        var output = Output.json

        func run() {
            switch output {
            case .json: Terminal.output(SettingsDocumentation.jsonSchema.written() + "\n")
            case .markdown: Terminal.output(SettingsDocumentation.markdown)
            }
        }
    }
}
