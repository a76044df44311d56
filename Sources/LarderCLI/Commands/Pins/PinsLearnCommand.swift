import ArgumentParser
import CommandSupport
import Foundation
import LarderSettings
import PinTools
import ProxyAdmin
import ServerTrust
import TextCoding

extension PinsCommand {
    struct Learn: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "learn", abstract: "Show a server's certificate chain, and propose pins.",
            discussion: """
                This command makes one TLS handshake with each host, and sends no request. It prints a file for tls.pins_from. \
                --write writes this file into the folder of tls.pins_from, unless the host already has a policy. The command \
                learns nothing from a server \
                that is not trusted.

                --from-log and --from-store connect to no server. --from-log reads the access log (ndjson) for the certificates \
                that a running Larder has verified. --from-store reads the certificates recorded with stored responses, and \
                verifies them with today's date. Without a host, these two options cover all hosts that have no policy.

                Exit codes: 0 every host was learned; 1 a host was not learned.
                """)

        enum Mode: String, CaseIterable, ExpressibleByArgument {
            case reportOnly = "report_only"
            case enforce
        }

        @Argument(help: ArgumentHelp("HOST or HOST:PORT.", valueName: "host"))
        var hosts: [NamedServer] = []

        @Option(
            defaultAsFlag: AccessLogSource.settings, parsing: .next,
            help: ArgumentHelp(
                "Learn from an access log, not from the server. The default FILE is the log in the settings; - is standard "
                    + "input.",
                valueName: "file"))
        var fromLog: AccessLogSource?

        @Flag(help: "Learn from the certificates recorded in the store.")
        var fromStore = false

        @Option(help: "The key to pin: leaf, intermediate or root.")
        var pin = PinProposal.Choice.leaf

        @Option(
            help: ArgumentHelp(
                "A backup key that is not in use yet: sha256/…, or a file in PEM or DER. Repeatable.", valueName: "pin"))
        var backup: [String] = []

        @Option(help: "The mode of the pins: report_only or enforce.")
        var mode = Mode.reportOnly

        @Flag(help: "Trust only this server's certificate, for a server without a trusted CA. Needs --write.")
        var pinsOnly = false

        @Flag(help: "Write the file into the folder of tls.pins_from.")
        var write = false

        @OptionGroup var options: SettingsOptions

        func validate() throws {
            let asksNobody = fromStore || fromLog != nil
            if hosts.isEmpty, !asksNobody { throw ValidationError("Give a host, --from-log or --from-store.") }
            if fromStore, fromLog != nil { throw ValidationError("Give --from-log or --from-store, not both.") }
            if pinsOnly, asksNobody {
                throw ValidationError(
                    "--pins-only cannot be used with --from-log or --from-store, because --pins-only connects to the server.")
            }
            if pinsOnly, !write { throw ValidationError("--pins-only needs --write, because the certificate goes into a file.") }
            if pinsOnly, !backup.isEmpty {
                throw ValidationError(
                    "--pins-only cannot be used with --backup: --backup adds only the digest of a key, which cannot be a trust anchor."
                )
            }
        }

        func run() throws {
            let loaded = try options.load(trustFiles: TrustFiles(allowsEmptyFolder: true))
            let settings = loaded.settings
            guard let trust = settings.tls.loaded else { return }
            let servers = hosts.reduce(into: [NamedServer]()) { if !$0.contains($1) { $0.append($1) } }
            let learning = PinLearning(
                settings: settings, trust: trust, choice: pin, isPinsOnly: pinsOnly, isEnforced: mode == .enforce,
                backup: try backup.flatMap(PinArgument.digests).map { "\($0)" }, now: .now)
            var hasFailed = false
            for (server, result) in try results(learning, servers, loaded) {
                switch result {
                case .success(let learned):
                    if write {
                        hasFailed = !writes(learned, trust) || hasFailed
                    } else {
                        Terminal.output(learned.remarks + learned.settings)
                    }
                case .failure(let refusal):
                    hasFailed = true
                    let lines = ["larder: \(server.title): \(refusal.reason)"] + PinProposal.lines(of: refusal.chain)
                    Terminal.talk(lines.map { printable($0, limit: 4096) + "\n" }.joined())
                }
            }
            if hasFailed { throw ExitCode.failure }
        }

        private func results(
            _ learning: PinLearning, _ servers: [NamedServer], _ loaded: LoadedSettings
        ) throws -> [(server: NamedServer, result: Result<LearnedPins, PinLearning.Refusal>)] {
            if let fromLog { return try learning.learn(servers, fromLog: fromLog) }
            guard fromStore else { return zip(servers, try learning.learn(servers)).map { ($0, $1.map(\.learned)) } }
            let recorded = try RecordedServers(of: loaded)
            if !recorded.isComplete { Terminal.talk("larder: the list of servers is incomplete: the store contains more\n") }
            return learning.learn(recorded, of: servers).map { ($0, $1.map(\.learned)) }
        }

        /// - Returns: whether the pins were written.
        private func writes(_ learned: LearnedPins, _ trust: LoadedTrust) -> Bool {
            do throws(PinsFolder.Refusal) {
                let path = try PinsFolder(trust).add(learned, isEnforced: mode == .enforce || pinsOnly)
                Terminal.talk(learned.remarks)
                Terminal.talk("larder: wrote \(printable(path, limit: 4096)); run larder reload to activate it\n")
                return true
            } catch {
                Terminal.talk("larder: \(printable(error.reason, limit: 4096))\n")
                return false
            }
        }
    }
}

extension PinProposal {
    fileprivate var learned: LearnedPins {
        LearnedPins(server: server, remarks: remarks, settings: settings, anchor: isPinsOnly ? pinned?.pem : nil)
    }
}

extension PinProposal.Choice: ExpressibleByArgument {}
