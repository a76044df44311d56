import ArgumentParser
import CommandSupport
import LarderSettings
import PolicyTools
import TextCoding

extension PolicyCommand {
    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff", abstract: "List what a new policy opens and closes; exits with 6 if it opens anything.",
            discussion: """
                Compares egress.default and the rules of two settings files, by host, port, scheme, method and path, and shows one request \
                for each difference. Other words of a match are not compared: what depends on them may open. The command also exits \
                with 6 for what may open.
                """)

        @Argument(help: "The settings file with the old policy.")
        var old: String

        @Argument(help: "The settings file with the new policy.")
        var new: String

        @OptionGroup var format: OutputOption

        func run() throws {
            let policies = try [old, new].map { try SettingsOptions(file: $0).load().settings.policy }
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
