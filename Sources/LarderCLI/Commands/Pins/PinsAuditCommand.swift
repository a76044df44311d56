import ArgumentParser

extension PinsCommand {
    struct Audit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "audit", abstract: "Show the keys that servers with report-only pins used instead of a pinned key.",
            discussion: """
                For each host, the report says how many handshakes would have failed if the pins were enforced. It lists the keys \
                of the servers' certificate chains in these handshakes. The counts begin when Larder starts, or when the host's policy \
                changes.
                """)

        @OptionGroup var format: OutputOption

        @OptionGroup var options: RunningOptions

        func run() throws {
            try RunningLarder.ask(try options.connect(), "GET", "/v1/pins/audit", form: format.output)
        }
    }
}
