import ArgumentParser
import ProxyAdmin

struct ModeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mode", abstract: "Tells the mode of a running Larder, or puts another one in force.",
        discussion: """
            Requests that come from then on are answered by it, until it is switched again or the settings are read again and name \
            another one than before. To replay and to record, the settings have to say what: replay.layers, record.file. A recording \
            is finished when its mode ends.

              larder mode
              larder mode replay
              larder mode replay --reset

            A mode that cannot be served is refused: exit code 2, and the one in force stays.
            """)

    @Argument(help: ArgumentHelp("live, offline, auto, replay, record or record_missing.", valueName: "mode"))
    var mode: LarderSettings.Mode?

    @Flag(help: "What is replayed begins anew: of several answers to one request the first comes next.")
    var reset = false

    @OptionGroup var options: SettingsOptions

    @Option(name: [.short, .long], help: "text or json.")
    var output = OutputForm.text

    func run() throws {
        let client = try RunningLarder.connect(options)
        var parameters: [String] = []
        if let mode { parameters.append("mode=\(mode.rawValue)") }
        if reset { parameters.append("reset=true") }
        if parameters.isEmpty { return try RunningLarder.ask(client, "GET", "/v1/mode", form: output) }
        try RunningLarder.ask(
            client, "POST", "/v1/mode?" + parameters.joined(separator: "&"), form: output, failure: ExitCode(2))
    }
}

extension LarderSettings.Mode: ExpressibleByArgument {}
