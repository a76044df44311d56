import ArgumentParser

/// What every subcommand has that runs a command through a Larder of its own.
struct CommandOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Settings that take the place of the settings file's: rules, hosts.", valueName: "file"))
    var policy: String?

    @Option(help: ArgumentHelp("Write the access log to this file; - is standard output.", valueName: "file"))
    var log: String?

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its words.", valueName: "command"))
    var command: [String] = []
}
