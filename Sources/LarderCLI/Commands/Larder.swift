import ArgumentParser
import CommandSupport
import ProxyPolicy
import TextCoding

/// The command `larder`.
public struct Larder: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "larder",
        abstract: "A caching forward proxy that enforces policy. Nothing goes into the larder unchecked.",
        discussion: """
            Serve, and let programs go through it:

              larder serve
              eval "$(larder env)"

            Or have one command go through a Larder of its own:

              larder run -- curl https://example.com/

            Or record what a command asks for, and have it run again with the network away:

              larder record -o build.larder -- make
              larder replay build.larder -- make

            Or fetch files through the same store:

              larder fetch https://example.com/image.iso

            Exit codes: 0 well, 1 failure, 2 wrong usage or settings, 4 what run, record and replay tell of with --strict, 5 a store in which something is \
            wrong (cache verify) or a snapshot or lock that does not hold (run --locked too), 6 snapshots that differ (snapshot diff), 7 pins that do \
            not hold (pins check). fetch has more, which larder help fetch tells.
            """,
        version: "larder \(Version.number)",
        subcommands: [
            ServeCommand.self, RunCommand.self, RecordCommand.self, ReplayCommand.self, ProjectCommand.self,
            FetchCommand.self, EnvCommand.self,
            DoctorCommand.self, StatusCommand.self,
            ReloadCommand.self, ModeCommand.self, StopCommand.self, ExplainCommand.self, CacheCommand.self, ConfigCommand.self,
            PinsCommand.self, AuthorityCommand.self,
            SnapshotCommand.self, HARCommand.self, LockCommand.self, VersionCommand.self, CompletionsCommand.self,
            NetworkCommand.self,
        ])

    public init() {}

    /// Runs the command line, and ends the process with an exit code of `conventions`: 2 for usage and settings.
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
            // Help and version come as errors that are none.
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

    /// To `help` with any other word behind it the library answers as to `help` alone.
    private static func requireCommand(behindHelpIn arguments: [String]) throws {
        guard arguments.first == "help" else { return }
        var commands = configuration.subcommands
        for word in arguments.dropFirst() where !word.hasPrefix("-") && word != "help" {
            if let command = commands.first(where: { $0.configuration.commandName == word }) {
                commands = command.configuration.subcommands
                continue
            }
            let hint = NearestName.of(word, among: commands.compactMap { $0.configuration.commandName })
            throw ValidationError("'\(printable(word))' is no command" + (hint.map { "; did you mean '\($0)'?" } ?? "."))
        }
    }
}
