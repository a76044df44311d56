import ArgumentParser

extension PinsCommand {
    struct Audit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "audit", abstract: "Says what a running Larder saw where pins are only reported on.",
            discussion: "Since its start, or since the host's policy was changed: enforcing would have refused what is told here."
        )

        @OptionGroup var format: OutputOption

        @OptionGroup var options: RunningOptions

        func run() throws {
            try RunningLarder.ask(try RunningLarder.connect(options.load()), "GET", "/v1/pins/audit", form: format.output)
        }
    }
}
