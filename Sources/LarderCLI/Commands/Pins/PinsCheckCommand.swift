import ArgumentParser
import CommandSupport
import LarderSettings
import PinTools

extension PinsCommand {
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Asks every pinned host now whether its pins hold, and what will go wrong next.",
            discussion: """
                One handshake with each host, and no request. Without hosts, those of the settings that have pins.

                Exit codes: 0 all is well, 7 a host is refused or will be once its pins are enforced (with --strict also one \
                that is warned of), 1 one cannot be reached.
                """)

        enum Output: String, CaseIterable, ExpressibleByArgument { case text, json, junit }

        @Argument(help: ArgumentHelp("HOST or HOST:PORT.", valueName: "host"))
        var hosts: [NamedServer] = []

        @Option(help: ArgumentHelp("How soon an end is warned of.", valueName: "days"))
        var days = 14

        @Flag(help: "What is warned of is a fault: a missing backup, an end that is near, a host without pins.")
        var strict = false

        @Option(name: [.short, .long], help: "text, json or junit.")
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
