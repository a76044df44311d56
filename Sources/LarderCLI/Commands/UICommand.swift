import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import ProxyAdmin

struct UICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui", abstract: "Open the page of a running Larder in a browser.",
        discussion: """
            The page shows requests as they finish, with every decision, and the store, the policy, trust, recordings, settings \
            and charts. This command prints a link to the page, and opens the link if there is a display.

              larder ui
              larder ui --no-open

            The link works once, within two minutes, in a browser on this machine. Larder opens a port of 127.0.0.1 for the page, \
            and closes the port when no page has been open for 15 minutes. The setting admin.listen gives the page a fixed port.

            On another machine, forward the port and open the link there: ssh -L PORT:127.0.0.1:PORT HOST
            """)

    @Flag(name: .customLong("no-open"), help: "Print the link, and do not open a browser.")
    var printsOnly = false

    @OptionGroup var options: RunningOptions

    func run() throws {
        let client = try RunningLarder.connect(options.load())
        var link = ""
        try RunningLarder.ask(client, "POST", PageRoute.path, form: .text) { link = $0 }
        Terminal.output(link)
        if !printsOnly, Self.hasDisplay { Self.open(link.trimmingCharacters(in: .newlines)) }
    }

    private static var hasDisplay: Bool {
        let environment = ProcessInfo.processInfo.environment
        return ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
    }

    /// A missing or failing xdg-open is not an error, because the link was printed.
    private static func open(_ link: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xdg-open", link]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do {
            // This command does not wait: xdg-open may run until the browser ends.
            try process.run()
        } catch {
            Terminal.talk("larder: no browser could be started: open the link yourself\n")
        }
    }
}
