import ArgumentParser
import CommandSupport
import Foundation
import PolicyTools
import SecretScanning
import TextCoding

extension PolicyCommand {
    struct Report: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "report", abstract: "List the requests that report mode forwarded and the rules would deny.",
            discussion: """
                Asks a running Larder. Its list begins at the start and at each reload. One line stands for all requests with \
                the same reason, method and host. It has their number, the times of the first and the last one, and the URL of \
                one of them. The URL has no query, and {secret} replaces each secret.

                --from-log reads an access log (ndjson) instead.
                """)

        @Option(help: ArgumentHelp("Read an access log in the format ndjson; - is standard input.", valueName: "file"))
        var fromLog: String?

        @OptionGroup var options: RunningOptions

        @OptionGroup var format: OutputOption

        func run() throws {
            if let fromLog { return try write(try report(ofLog: fromLog)) }
            try RunningLarder.ask(try RunningLarder.connect(options.load()), "GET", "/v1/policy/report", form: format.output)
        }

        private func write(_ report: DenialReport) throws {
            switch format.output {
            case .text: Terminal.output(report.text)
            case .json: Terminal.output(report.json().written() + "\n")
            }
        }

        private func report(ofLog path: String) throws -> DenialReport {
            var observer = DenialObserver()
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
                Terminal.talk("larder: cannot read the log \(printable(path, limit: 4096)): \(error.reason)\n")
                throw ExitCode.failure
            }
            if skipped > 0 {
                Terminal.talk(
                    "larder: \(printable(path, limit: 4096)): skipped lines that are not in the format ndjson: \(skipped)\n")
            }
            return observer.report
        }
    }
}

/// Reads the lines of an access log about requests that report mode forwarded.
struct DenialObserver {
    private(set) var report = DenialReport()
    private let mask = SecretMask()

    /// - Returns: whether the line is from the access log.
    mutating func add(line: [UInt8]) -> Bool {
        guard let record = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
            record["cache"] is String
        else { return false }
        // A request that Larder did not accept has no URL.
        guard let code = record["would_deny"] as? String, let url = record["url"] as? String else { return true }
        report.add(
            code: code, rule: code == RequestTally.ruleWord ? record["rule"] as? String : nil,
            method: record["method"] as? String ?? "", url: url, time: record["ts"] as? String ?? "",
            mask: { mask.masked(url: $0) })
        return true
    }
}
