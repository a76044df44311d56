import ArgumentParser
import Foundation
import ProxyAdmin
import ServerTrust

extension PinsCommand {
    struct Learn: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a server's chain, and proposes pins of it.",
            discussion: """
                One handshake with each host, and no request. It prints a file for tls.pins_from; --write puts it there, unless \
                the host has a policy already. A server that is not trusted is not learned from.
                """)

        enum Mode: String, CaseIterable, ExpressibleByArgument {
            case reportOnly = "report_only"
            case enforce
        }

        @Argument(help: ArgumentHelp("HOST or HOST:PORT.", valueName: "host"))
        var hosts: [NamedServer]

        @Option(help: "What is pinned: leaf, intermediate or root.")
        var pin = PinProposal.Choice.leaf

        @Option(
            help: ArgumentHelp("A key that is not in use yet: sha256/…, or a file in PEM or DER; repeatable.", valueName: "pin"))
        var backup: [String] = []

        @Option(help: "report_only or enforce.")
        var mode = Mode.reportOnly

        @Flag(help: "For a server that nobody vouches for: its certificate becomes the only anchor. Needs --write.")
        var pinsOnly = false

        @Flag(help: "Writes it into the folder of tls.pins_from.")
        var write = false

        @OptionGroup var options: SettingsOptions

        func validate() throws {
            if pinsOnly, !write { throw ValidationError("--pins-only needs --write: its certificate goes into a file.") }
            if pinsOnly, !backup.isEmpty { throw ValidationError("--pins-only takes no --backup: an anchor's backup is a file.") }
        }

        func run() throws {
            let settings = try options.load(trustFiles: TrustFiles(allowsEmptyFolder: true)).settings
            guard let trust = settings.tls.loaded else { return }
            let now = POSIXTime(seconds: Int64(Date().timeIntervalSince1970))
            let learning = PinLearning(
                settings: settings, trust: trust, choice: pin, isPinsOnly: pinsOnly, isEnforced: mode == .enforce,
                backup: try backup.flatMap(PinArgument.digests).map { "\($0)" }, now: now)
            let servers = hosts.reduce(into: [NamedServer]()) { if !$0.contains($1) { $0.append($1) } }
            var hasFailed = false
            for (server, result) in zip(servers, try learning.learn(servers)) {
                switch result {
                case .success(let proposal):
                    if write {
                        hasFailed = !Self.write(proposal, trust) || hasFailed
                    } else {
                        Terminal.output(proposal.remarks + proposal.settings)
                    }
                case .failure(let refusal):
                    hasFailed = true
                    let lines = ["larder: \(server.title) \(refusal.reason)"] + PinProposal.lines(of: refusal.chain)
                    Terminal.talk(lines.map { printable($0, limit: 4096) + "\n" }.joined())
                }
            }
            if hasFailed { throw ExitCode.failure }
        }

        /// - Returns: whether it stands there now.
        private static func write(_ proposal: PinProposal, _ trust: LoadedTrust) -> Bool {
            func refuse(_ reason: String) -> Bool {
                Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
                return false
            }
            guard let folder = trust.pinsFolder else {
                return refuse("nothing is written: tls.pins_from names no folder; without --write the settings are printed")
            }
            let server = proposal.server
            if let scope = HostScope(host: server.host, port: server.port),
                let site = trust.sites.first(where: { $0.entry?.scope == scope })
            {
                return refuse("\(server.title) has a policy already, at \(site.position): nothing is written")
            }
            let path = "\(folder)/\(proposal.fileStem)"
            do throws(SettingsFile.Unreadable) {
                if proposal.isPinsOnly, let pinned = proposal.pinned {
                    try WholeFile.write(pinned.pem, to: "\(path).pem", replaces: false)
                }
                try WholeFile.write(PinProposal.header + proposal.settings, to: "\(path).yaml", replaces: false)
            } catch {
                return refuse("cannot write \(path): \(error.reason)")
            }
            Terminal.talk(proposal.remarks)
            Terminal.talk("larder: wrote \(printable(path, limit: 4096)).yaml; larder reload puts it in force\n")
            return true
        }
    }
}

extension PinProposal.Choice: ExpressibleByArgument {}

extension Certificate {
    fileprivate var pem: String {
        let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }
}
