import ArgumentParser
import CommandSupport
import LarderSettings
import PinTools

extension PinsCommand {
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check the pins of every pinned host now, and warn about future problems.",
            discussion: """
                This command makes one TLS handshake with each host, and sends no request. Without a HOST, it checks all hosts \
                with pins in the settings.

                Exit codes: 0 success; 7 Larder rejects a host, or will reject it once its pins are enforced (with --strict, \
                also if a host has a warning); 1 a host cannot be reached.
                """)

        enum Output: String, CaseIterable, ExpressibleByArgument { case text, json, junit }

        @Argument(help: ArgumentHelp("HOST or HOST:PORT.", valueName: "host"))
        var hosts: [NamedServer] = []

        @Option(help: ArgumentHelp("Warn if pins or certificates expire within this many days.", valueName: "days"))
        var days = 14

        @Flag(help: "Treat warnings as failures: a missing backup, an approaching expiry, a host without pins.")
        var strict = false

        @Option(name: [.short, .long], help: "The format: text, json or junit.")
        var output = Output.text

        @OptionGroup var options: SettingsOptions

        func run() throws {
            let settings = try options.load(trustFiles: TrustFiles()).settings
            let pinned = settings.tls.loaded?.pinned ?? []
            let isPattern = { (host: PinnedHost) in host.breadth != .itself }
            let servers =
                hosts.isEmpty
                ? pinned.filter { !isPattern($0) }.map { NamedServer(host: $0.name.lowercased(), port: $0.port) } : hosts
            var checks = try PinCheck.judging(servers, settings, warningDays: days)
            if hosts.isEmpty { checks += pinned.filter(isPattern).map { PinCheck(pattern: $0.title) } }
            let report = PinCheckReport(checks: checks, isStrict: strict)
            switch output {
            case .text: Terminal.output(report.text)
            case .json: Terminal.output(report.json.written() + "\n")
            case .junit: Terminal.output(report.junit)
            }
            if report.exitCode != 0 { throw ExitCode(report.exitCode) }
        }
    }
}
