import ArgumentParser

extension PinsCommand {
    struct Audit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "audit", abstract: "Show which keys hosts with report-only pins have used.",
            discussion:
                "The counts begin when Larder starts, or when the host's policy changes. Enforced pins would have rejected the connections listed here."
        )

        @OptionGroup var format: OutputOption

        @OptionGroup var options: RunningOptions

        func run() throws {
            try RunningLarder.ask(try RunningLarder.connect(options.load()), "GET", "/v1/pins/audit", form: format.output)
        }
    }
}
