import ArgumentParser

/// The options shared by all subcommands that run a command through a Larder of their own.
struct CommandOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A settings file whose values replace the values of the main file. It replaces `rules` and `tls.hosts` as a whole.",
            valueName: "file"))
    var policy: String?

    @Option(help: ArgumentHelp("Write the access log to this file; - is standard output.", valueName: "file"))
    var log: String?

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The command to run, with its arguments.", valueName: "command"))
    var command: [String] = []
}
