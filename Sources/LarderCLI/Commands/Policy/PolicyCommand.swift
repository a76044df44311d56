import ArgumentParser
import CommandSupport
import TextCoding

struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Check, evaluate, test, compare, try, learn and import policies.",
        discussion: """
            These commands need no running Larder and send no request, except that report asks a running Larder, and learn runs a command. Exit codes: 0 success; 1 \
            failure; 2 wrong usage or settings; 3 a test failed (test); 4 the request is denied (eval); 6 the new policy allows \
            more than the old one, or may allow more (diff), or a line is not imported (import).
            """,
        subcommands: [Check.self, Eval.self, Test.self, Diff.self, Report.self, Learn.self, Import.self])

    /// Exit codes, as in the help of `larder`.
    enum Code {
        static let testFailed = ExitCode(3)
        static let denied = ExitCode(4)
        static let differs = ExitCode(6)
    }
}
