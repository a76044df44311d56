import ArgumentParser
import CommandSupport
import Foundation
import LarderSettings
import ProxyPolicy
import TextCoding

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves as a forward proxy until it is told to stop.",
        discussion: """
            SIGTERM and Ctrl-C finish what is under way (timeouts.drain) and end, a second one ends at once; SIGHUP reads the \
            settings again; SIGUSR1 opens the logs again.
            """)

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("Where to listen; repeatable, port 0 lets the system choose.", valueName: "host:port"))
    var listen: [String] = []

    @Option(help: ArgumentHelp("The store's file, or :memory:.", valueName: "path"))
    var store: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "live, offline (nothing leaves, and what is stored is served whatever its age), auto (offline without a network), replay, record, record_missing, refresh or diff.",
            valueName: "mode"))
    var mode: String?

    @Flag(help: "The same as --mode offline.")
    var offline = false

    @Option(help: ArgumentHelp("Writes the ports there once they are open, one on a line.", valueName: "file"))
    var portFile: String?

    @Flag(help: "Accept a settings file that is empty, and a reload that loses all rules, passwords or pins.")
    var allowEmpty = false

    @OptionGroup var options: SettingsOptions

    @Flag(name: [.short, .long], help: "Says nothing at the start.")
    var quiet = false

    func validate() throws {
        if offline, let mode, mode != LarderSettings.Mode.offline.rawValue {
            throw ValidationError("--offline and --mode \(printable(mode)) say different things.")
        }
    }

    func run() throws {
        SignalThread.block()
        let loaded = try options.load(flags: flags, trustFiles: TrustFiles(opensKeyLog: true))
        let plan = try ServingPlan(loaded, allowsEmpty: allowEmpty)
        try serve(plan, loaded)
    }

    /// The flags that are settings too.
    var flags: [(flag: String, name: String, value: SettingsNode)] {
        var flags: [(flag: String, name: String, value: SettingsNode)] = []
        if !listen.isEmpty {
            flags.append(("--listen", "listen", SettingsNode(.sequence(listen.map(SettingsNode.plain)), at: .none)))
        }
        if let store { flags.append(("--store", "store.path", .plain(store))) }
        if let mode { flags.append(("--mode", "mode", .plain(mode))) }
        if offline { flags.append(("--offline", "mode", .plain(LarderSettings.Mode.offline.rawValue))) }
        return flags
    }

    /// Starts the server and waits for signals.
    private func serve(_ plan: ServingPlan, _ loaded: LoadedSettings) throws {
        let server = try RunningServer(plan, loaded)
        if let portFile {
            do {
                try PortFile.write(server.addresses.map(\.port), to: portFile)
            } catch {
                let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
                let reason = cause.map { ": \(String(cString: strerror($0.code.rawValue)))" } ?? ""
                Terminal.talk("larder: cannot write \(printable(portFile, limit: 4096))\(reason)\n")
                throw ExitCode.failure
            }
        }
        if !quiet {
            let message = StartMessage(
                addresses: server.addresses, storePath: plan.storePath, settingsFile: loaded.file, mode: plan.settings.mode)
            Terminal.talk(message.text(style: Terminal.Style()))
        }
        StartUpCode.letGo()
        SignalThread.run { server.handle($0) }
    }
}
