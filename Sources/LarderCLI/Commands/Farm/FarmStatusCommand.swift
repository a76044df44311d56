import ArgumentParser

struct FarmStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the shared tier and the nodes of the farm.",
        discussion: """
            Asks a running Larder for its engines, its lease, and what the tier has answered. The nodes are those with a lease in the \
            farm, each with the number of the last purge that it has applied.
            """)

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func run() throws { try RunningLarder.ask(try options.connect(), "GET", "/v1/farm", form: format.output) }
}
