import ArgumentParser
import CLinux
import Foundation

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Says what a running Larder is and has done.")

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func run() throws {
        try RunningLarder.ask(try RunningLarder.connect(options.load()), "GET", "/v1/status", form: format.output)
    }
}

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Makes a running Larder read its settings again.",
        discussion: """
            As SIGHUP does. Settings with a mistake are refused as a whole: exit code 2, and the active ones stay. So are a file that is empty and was not, \
            and settings without any rule, password or pin where some are active: a file that is being written is empty for a moment.
            """)

    @Flag(help: "Accept a file that is empty, and settings that lose all rules, passwords or pins.")
    var allowEmpty = false

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func run() throws {
        try RunningLarder.ask(
            try RunningLarder.connect(options.load()), "POST", "/v1/reload\(allowEmpty ? "?allow_empty=true" : "")",
            form: format.output,
            failure: ExitCode(2))
    }
}

struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Ends a running Larder, and waits until it has ended.",
        discussion: "As SIGTERM does: what is under way is finished first (timeouts.drain). A second stop ends it at once.")

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func run() throws {
        let client = try RunningLarder.connect(options.load())
        // Before it is told to end, so that its number cannot have gone to another.
        let end = client.serverProcess.map { larder_pidfd_open($0) } ?? -1
        defer { if end >= 0 { close(end) } }
        try RunningLarder.ask(client, "POST", "/v1/stop", form: format.output)
        guard end >= 0 else { return }
        var wait = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        while poll(&wait, 1, -1) < 0, errno == EINTR {}
    }
}
