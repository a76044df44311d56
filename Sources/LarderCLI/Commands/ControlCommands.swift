import ArgumentParser
import CLarderLinux
import Foundation

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state and the statistics of a running Larder.")

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func run() throws {
        try RunningLarder.ask(try options.connect(), "GET", "/v1/status", form: format.output)
    }
}

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Make a running Larder reload its settings.",
        discussion: """
            Like SIGHUP, this command makes Larder reload its settings. It also prints which requests the new rules newly allow \
            and deny. If the new settings have a mistake, or a test of the rules fails, Larder keeps the \
            active settings, and this command exits with 2.

            Larder also rejects an empty file, which an editor may leave for a moment, and settings that would remove all \
            rules, passwords or pins. --allow-empty accepts such settings.
            """)

    @Flag(help: "Accept an empty file, and settings that lose all rules, passwords or pins.")
    var allowEmpty = false

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func run() throws {
        try RunningLarder.ask(
            try options.connect(), "POST", "/v1/reload\(allowEmpty ? "?allow_empty=true" : "")",
            form: format.output,
            failure: ExitCode(2))
    }
}

struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop a running Larder, and wait until it has stopped.",
        discussion:
            "Like SIGTERM: Larder first finishes exchanges in flight (timeouts.drain). A second `larder stop` closes these exchanges at once."
    )

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func run() throws {
        let client = try options.connect()
        // The pidfd is opened before the stop request, so that it cannot refer to a new process with the same ID.
        let end = client.serverProcess.map { larder_pidfd_open($0) } ?? -1
        defer { if end >= 0 { close(end) } }
        try RunningLarder.ask(client, "POST", "/v1/stop", form: format.output)
        guard end >= 0 else { return }
        var wait = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        while poll(&wait, 1, -1) < 0, errno == EINTR {}
    }
}
