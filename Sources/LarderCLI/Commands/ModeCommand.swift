import ArgumentParser
import CommandSupport
import LarderSettings
import TextCoding

struct ModeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mode", abstract: "Show or switch the mode of a running Larder.",
        discussion: """
            The mode applies to new requests, until the next switch or until a reload with a different mode. Replaying needs \
            replay.layers in the settings, and recording needs record.file. Larder finishes a recording when the mode changes.

              larder mode
              larder mode replay
              larder mode replay --reset
              larder mode diff
              larder mode diff --report -

            If Larder cannot switch to the mode, it keeps the active mode, and this command exits with 2. --report does not \
            switch the mode: it writes how the responses in mode diff differ from the recorded ones. It exits with 6 if a \
            response differs.
            """)

    @Argument(
        help: ArgumentHelp(
            "The new mode: live, offline, auto, replay, record, record_missing, refresh or diff.", valueName: "mode"))
    var mode: LarderSettings.Mode?

    @Flag(help: "Restart the replay: requests with several recorded responses get the first response again.")
    var reset = false

    @Option(
        help: ArgumentHelp(
            "Write the report of the current or the last comparison (mode diff) to this file; - is standard output.",
            valueName: "file"))
    var report: String?

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func validate() throws {
        if report != nil, mode != .diff || reset {
            throw ValidationError("--report needs the mode diff: larder mode diff --report FILE")
        }
    }

    func run() throws {
        if let report { return try write(report) }
        let client = try options.connect()
        var parameters: [String] = []
        if let mode { parameters.append("mode=\(mode.rawValue)") }
        if reset { parameters.append("reset=true") }
        if parameters.isEmpty { return try RunningLarder.ask(client, "GET", "/v1/mode", form: format.output) }
        try RunningLarder.ask(
            client, "POST", "/v1/mode?" + parameters.joined(separator: "&"), form: format.output, failure: ExitCode(2))
    }

    /// The exit code if at least one response differs from the recordings.
    private static let differs = ExitCode(6)

    private func write(_ path: String) throws {
        let place = "/v1/mode/differences"
        var (report, counts) = ("", "")
        // Each request uses a connection of its own, as the admin socket requires.
        try RunningLarder.ask(try options.connect(), "GET", place, form: format.output, failure: ExitCode(2)) {
            report = $0
        }
        // The counts are requested after the report, so that they include all differences that it lists.
        try RunningLarder.ask(try options.connect(), "GET", place, form: .json, failure: ExitCode(2)) {
            counts = $0
        }
        if path == "-" {
            Terminal.output(report)
        } else {
            do throws(WholeFile.Unwritten) {
                try WholeFile.write(report, to: path, replaces: true)
            } catch {
                Terminal.talk("larder: cannot write \(printable(path, limit: 4096)): \(error.reason)\n")
                throw ExitCode.failure
            }
        }
        if JSONAnswer(counts)["differing"] as? Int != 0 { throw Self.differs }
    }
}

extension LarderSettings.Mode: ExpressibleByArgument {}
