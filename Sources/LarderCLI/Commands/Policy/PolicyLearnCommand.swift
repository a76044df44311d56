import ArgumentParser
import CommandSupport
import EventLoop
import Foundation
import LarderHTTP
import LarderSettings
import PolicyTools
import ProxyPolicy
import Snapshots
import TextCoding

extension PolicyCommand {
    struct Learn: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "learn", abstract: "Write a policy that allows only what a command requests.",
            discussion: """
                This runs the command as `larder run` does, but without your rules: Larder allows every request. Then it writes \
                a settings file that allows only these requests. It replaces versions and digests in paths with `*` only if the \
                path still names the package that they belong to: `/probe/1.4.2/file` becomes `/probe/*/file`. A comment before \
                each rule gives the number of requests from which the rule was learned.

                  larder policy learn -o policy.yaml -- pip install six
                  larder run --policy policy.yaml --strict -- pip install six

                --from-log reads an access log (ndjson) instead, and --from-snapshot a recording. \
                The log must contain the CONNECT requests too.

                Exit codes: the command's own; 125 if Larder failed; 1 if there is nothing to learn, or if the file cannot be written; 2 for \
                wrong usage.
                """)

        @Option(
            name: [.customShort("o"), .customLong("output")],
            help: ArgumentHelp(
                "The file to write. The default is standard output; with a command, the file is required.", valueName: "file"))
        var output: String?

        @Flag(help: "Replace an existing file.")
        var force = false

        @Option(help: ArgumentHelp("Learn from an access log in the format ndjson; - is standard input.", valueName: "file"))
        var fromLog: String?

        @Option(help: ArgumentHelp("Learn from the requests of a recording.", valueName: "file"))
        var fromSnapshot: String?

        @Option(
            help: ArgumentHelp(
                "Write at most this many rules. Merged rules allow more than the command requested, and a comment marks them.",
                valueName: "number")
        )
        var maxRules: Int?

        @OptionGroup var options: SettingsOptions

        @Argument(parsing: .postTerminator, help: ArgumentHelp("The command to run, with its arguments.", valueName: "command"))
        var command: [String] = []

        func validate() throws {
            guard [!command.isEmpty, fromLog != nil, fromSnapshot != nil].count(where: { $0 }) == 1 else {
                throw ValidationError(
                    "Give one source: a command after --, --from-log or --from-snapshot. For example: larder policy learn -o policy.yaml -- make"
                )
            }
            if !command.isEmpty, output == nil {
                throw ValidationError(
                    "Give a file, because the command uses standard output: larder policy learn -o policy.yaml -- make")
            }
            if let maxRules, maxRules < 1 { throw ValidationError("--max-rules must be at least 1.") }
        }

        func run() throws {
            if let output, !force, FileManager.default.fileExists(atPath: output) {
                throw Self.failed("\(output) exists; --force replaces it")
            }
            if let fromLog {
                try write(try traffic(ofLog: fromLog), try options.load().settings)
            } else if let fromSnapshot {
                var observer = TrafficObserver()
                try SnapshotFiles.run {
                    let snapshot = try SnapshotFiles.open(fromSnapshot)
                    try SnapshotFiles.of(fromSnapshot) { try observer.add(recordingsOf: snapshot) }
                }
                try write(observer.traffic, try options.load().settings)
            } else {
                try learnCommand()
            }
        }

        private func learnCommand() throws {
            let run = try CommandRun()
            defer { run.end() }
            let observer = RunObserver()
            var terms = EphemeralProxy.Terms()
            terms.isCounted = true
            terms.observer = observer.add
            terms.settings = [
                ("policy learn", "egress.default", .plain("allow")), ("policy learn", "tunnel.ports", .plain("any")),
                ("policy learn", "rules", SettingsNode(.sequence([]), at: .none)),
            ]
            let larder = try EphemeralProxy(options, terms, in: run.folder)
            let code = Result { () throws(ExitCode) in try run.run(command, through: larder) }
            let tally = larder.close()
            if let unseen = UnobservedRun(tally, hasOwnNetwork: false, offersNetwork: false) {
                Terminal.talk("larder: \(unseen.sentence)\n")
            }
            if let remark = tally?.untrustedRemark { Terminal.talk("larder: \(printable(remark, limit: 4096))\n") }
            let ended = try code.get()
            if ended != 0 {
                Terminal.talk(
                    "larder: the command exited with \(ended); the policy allows only the requests that were sent until then\n")
            }
            let traffic = observer.traffic
            if ended == 0 || !traffic.isEmpty { try write(traffic, larder.settings) }
            if ended != 0 { throw ExitCode(ended) }
        }

        private func traffic(ofLog path: String) throws -> ObservedTraffic {
            var observer = TrafficObserver()
            var skipped = 0
            do throws(LocalFile.Unreadable) {
                var reader = try LineReader(path: path, limit: RequestTally.lineLimit)
                while let line = try reader.next() {
                    guard case .whole(let bytes) = line, observer.add(line: bytes) else {
                        skipped += 1
                        continue
                    }
                }
            } catch {
                throw Self.failed("cannot read the log \(path): \(error.reason)")
            }
            if skipped > 0 {
                Terminal.talk(
                    "larder: \(printable(path, limit: 4096)): skipped lines that are not in the format ndjson: \(skipped)\n")
            }
            return observer.traffic
        }

        private func write(_ traffic: ObservedTraffic, _ settings: LarderSettings) throws {
            guard !traffic.isEmpty else { throw Self.failed("there is no request to learn from") }
            let policy = LearnedPolicy(traffic, atMost: maxRules) { PublicSuffixes.registrableDomain(of: $0) != nil }
            for remark in policy.remarks { Terminal.talk("larder: \(printable(remark, limit: 4096))\n") }
            let text = policy.text(writesHosts: !settings.tls.hasPolicies)
            guard text.utf8.count <= YAMLReader.lengthLimit else {
                throw Self.failed(
                    "the policy is longer than a settings file may be: run larder policy learn for each part of the command")
            }
            guard let output else { return Terminal.output(text) }
            do throws(WholeFile.Unwritten) {
                try WholeFile.write(text, to: output, replaces: force)
            } catch { throw Self.failed("cannot write \(output): \(error.reason)") }
            Terminal.talk("larder: wrote \(policy.summary) to \(printable(output, limit: 4096))\n")
        }

        private static func failed(_ reason: String) -> ExitCode {
            Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
            return .failure
        }
    }
}
