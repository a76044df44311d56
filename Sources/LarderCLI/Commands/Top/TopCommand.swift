import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import TextCoding

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Watch a running Larder: requests, hits, errors, latency, connections and the store.",
        discussion: """
            On a terminal, this command replaces the report after each interval, until Ctrl-C. Without a terminal, it prints each report \
            below the earlier ones. Rates and percentiles are those of the last interval; other numbers count since Larder started.

            For example: larder top --once -o json
            """)

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("The seconds between two reports, from 0.1 to 3600.", valueName: "seconds"))
    var interval = 1.0

    @Flag(help: "Print one report after one interval, and end.")
    var once = false

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func validate() throws {
        guard (0.1...3600).contains(interval) else { throw ValidationError("--interval must be from 0.1 to 3600 seconds.") }
    }

    func run() throws {
        var before = try sample()
        let isDrawn = !once && format.output == .text && isatty(1) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
        var isFirst = true
        repeat {
            Thread.sleep(forTimeInterval: interval)
            let now = try sample()
            let report = TopReport(from: before, to: now, wallClock: Date().timeIntervalSince1970)
            if format.output == .json {
                Terminal.output((once ? report.json.written() : report.json.writtenInLine()) + "\n")
            } else if isDrawn {
                draw(report)
            } else {
                let lines = TopScreen(report: report).lines(width: 1000, height: 1000)
                Terminal.output((isFirst ? "" : "\n") + lines.joined(separator: "\n") + "\n")
            }
            isFirst = false
            before = now
        } while !once
    }

    private func sample() throws -> MetricsSample {
        let client = try options.connect()
        do {
            let (status, text) = try client.send("GET", "/metrics", accept: "text/plain")
            guard status.isSuccessful else {
                Terminal.talk(
                    "larder: the running Larder has no metrics (status \(status.code)), because it is an older version\n")
                throw ExitCode.failure
            }
            return MetricsSample(text, at: .now)
        } catch let error as AdminClient.Failure {
            Terminal.talk("larder: \(error)\n")
            throw ExitCode.failure
        }
    }

    /// Redraws the whole terminal with one write: erases the rest of each line, and all lines below.
    private func draw(_ report: TopReport) {
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        let (width, height) = isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
        let lines = TopScreen(report: report).lines(width: width - 1, height: height - 1)
        Terminal.output("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J")
    }
}
