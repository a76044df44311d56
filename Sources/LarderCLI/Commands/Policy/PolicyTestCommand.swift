import ArgumentParser
import CommandSupport
import Foundation
import LarderSettings
import PolicyTools
import TextCoding

extension PolicyCommand {
    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test", abstract: "Run the tests of a settings file; exits with 3 if a test fails.",
            discussion:
                "This command also lists the rules that no test matches. Without FILE, it runs the tests of your settings file.")

        @Argument(help: "The settings file.")
        var file: String?

        @Option(help: ArgumentHelp("Write the result to this file, in JUnit's XML format.", valueName: "file"))
        var junit: String?

        func run() throws {
            let loaded = try SettingsOptions(file: file).loadChecked(runsTests: false)
            let run = loaded.settings.policyTestRun
            let source = loaded.file ?? "no settings file"
            Terminal.output(lines(of: run, loaded, source).map { printable($0, limit: 8192) + "\n" }.joined())
            if let junit {
                do {
                    try Data(JUnitReport.text(of: run, file: source).utf8).write(to: URL(filePath: junit), options: .atomic)
                } catch {
                    Terminal.talk("larder: cannot write \(printable(junit, limit: 4096)): \(error.localizedDescription)\n")
                    throw ExitCode.failure
                }
            }
            if !run.failures.isEmpty { throw Code.testFailed }
        }

        private func lines(of run: PolicyTestRun, _ loaded: LoadedSettings, _ source: String) -> [String] {
            var lines = run.outcomes.map { outcome in
                let title = "\(source):\(outcome.test.place.line): \(outcome.test.title)"
                return outcome.failure.map { "FAILED \(title): \($0)" } ?? "passed \(title): \(outcome.decision.text)"
            }
            let failed = run.failures.count
            let matched = run.ruleCount - run.unmatchedRules.count
            lines.append(
                "\(run.outcomes.count) test\(run.outcomes.count == 1 ? "" : "s"), \(failed) failed; "
                    + "tests match \(matched) of \(run.ruleCount) rule\(run.ruleCount == 1 ? "" : "s")")
            let places = Dictionary(
                zip(loaded.settings.rules.compiled.rules.map(\.name), loaded.settings.rules.places),
                uniquingKeysWith: { first, _ in first })
            lines += run.unmatchedRules.map { name in
                let place = places[name].map { $0 == .none ? "" : " (line \($0.line))" } ?? ""
                return "no test matches the rule `\(name)`\(place)"
            }
            return lines
        }
    }
}
