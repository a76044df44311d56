import ArgumentParser
import CommandSupport
import LarderSettings
import PolicyTools
import TextCoding

extension PolicyCommand {
    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "List which requests a new policy newly allows and denies; exits with 6 if it allows more.",
            discussion: """
                Compares egress.default and the rules of two settings files, by host, port, scheme, method, path and query, and shows \
                one request for each difference. It does not compare other keys of a match. If a difference depends on such a \
                key, it is shown as `may open` (possibly newly allowed) or `may close` (possibly newly denied). `may open` also \
                makes \
                the command exit with 6.
                """)

        @Argument(help: "The settings file with the old policy.")
        var old: String

        @Argument(help: "The settings file with the new policy.")
        var new: String

        @OptionGroup var format: OutputOption

        func run() throws {
            let policies = try [old, new].map { try SettingsOptions(file: $0).loadChecked().settings.policy }
            let differences = PolicyComparison.differences(from: policies[0], to: policies[1])
            switch format.output {
            case .text:
                let lines = differences.isEmpty ? ["both policies allow the same requests"] : differences.lines
                Terminal.output(lines.map { printable($0, limit: 8192) + "\n" }.joined())
            case .json: Terminal.output(differences.json.written() + "\n")
            }
            if differences.mayOpen { throw Code.differs }
        }
    }
}
