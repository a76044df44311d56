import ArgumentParser
import CommandSupport
import ProxyPolicy
import TextCoding

/// The command `larder`.
public struct Larder: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "larder",
        abstract: "A caching forward proxy that enforces policy.",
        discussion: """
            Start Larder, and let programs use it:

              larder serve
              eval "$(larder env)"

            Run one command through its own Larder:

              larder run -- curl https://example.com/

            Record a command's requests, and run it again without a network:

              larder record -o build.larder -- make
              larder replay build.larder -- make

            Fetch files through the same store:

              larder fetch https://example.com/image.iso

            Exit codes:

              0  success
              1  failure
              2  wrong usage or settings
              3  a test of the rules failed (policy test)
              4  a denied or missed request (run, record and replay with --strict),
                 or a request that the rules deny (policy eval)
              5  a damaged store (cache verify) or audit log (log verify), or a
                 snapshot or lock that does not match (also run --locked)
              6  snapshots that differ (snapshot diff), a policy that allows more
                 (policy diff), or lines that are not imported (policy import)
              7  pins that do not match (pins check)

            fetch has more: see larder help fetch.
            """,
        version: "larder \(Version.number)",
        subcommands: [
            ServeCommand.self, RunCommand.self, RecordCommand.self, ReplayCommand.self, ProjectCommand.self,
            FetchCommand.self, EnvCommand.self,
            DoctorCommand.self, StatusCommand.self, TopCommand.self, UICommand.self, ApprovalsCommand.self,
            ReloadCommand.self, ModeCommand.self, StopCommand.self, ExplainCommand.self, CacheCommand.self, ConfigCommand.self,
            PolicyCommand.self, PinsCommand.self, AuthorityCommand.self,
            SnapshotCommand.self, HARCommand.self, LockCommand.self, LogCommand.self, FarmCommand.self, VersionCommand.self,
            CompletionsCommand.self,
            NetworkCommand.self,
        ])

    public init() {}

    /// Runs the command line, and exits with one of the codes that its help lists, such as 2 for errors in usage and settings.
    public static func run() -> Never {
        Terminal.holdStandardDescriptors()
        do {
            try requireCommand(behindHelpIn: Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot()
            try command.run()
            exit(withError: nil)
        } catch let code as ExitCode {
            Terminal.exit(code.rawValue)
        } catch {
            // Help and version are thrown as errors with a success code.
            let code = exitCode(for: error)
            let message = fullMessage(for: error)
            if code == .success {
                Terminal.output(message + "\n")
                Terminal.exit(0)
            }
            Terminal.talk(message + "\n")
            Terminal.exit(code == .validationFailure ? 2 : code.rawValue)
        }
    }

    /// Rejects unknown words after `help`: the argument parser would print the general help for them.
    private static func requireCommand(behindHelpIn arguments: [String]) throws {
        guard arguments.first == "help" else { return }
        var commands = configuration.subcommands
        for word in arguments.dropFirst() where !word.hasPrefix("-") && word != "help" {
            if let command = commands.first(where: { $0.configuration.commandName == word }) {
                commands = command.configuration.subcommands
                continue
            }
            let hint = NearestName.of(word, among: commands.compactMap { $0.configuration.commandName })
            throw ValidationError("'\(printable(word))' is not a command" + (hint.map { "; did you mean '\($0)'?" } ?? "."))
        }
    }
}
