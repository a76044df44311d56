import ArgumentParser
import CommandSupport
import Foundation
import LarderSettings
import ProxyPolicy
import TextCoding

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the forward proxy until it is stopped.",
        discussion: """
            On SIGTERM and Ctrl-C, Larder finishes exchanges in flight (timeouts.drain) and stops; on a second signal, it stops at once. \
            On SIGHUP, it reloads the settings. On SIGUSR1, it reopens the logs.

            A service manager such as systemd can pass sockets for the addresses in `listen` (LISTEN_FDS), and receives Larder's state (NOTIFY_SOCKET).
            """)

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The address to listen on. Repeatable; port 0 lets the system choose.", valueName: "host:port"))
    var listen: [String] = []

    @Option(help: ArgumentHelp("The store file, or :memory:.", valueName: "path"))
    var store: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The mode: live, offline (serve stored responses of any age, forward nothing), auto (offline without a network), replay, record, record_missing, refresh or diff.",
            valueName: "mode"))
    var mode: String?

    @Flag(help: "The same as --mode offline.")
    var offline = false

    @Option(
        help: ArgumentHelp("After opening the ports, write their numbers to this file, one on each line.", valueName: "file"))
    var portFile: String?

    @Flag(help: "Accept an empty settings file, and a reload that loses all rules, passwords or pins.")
    var allowEmpty = false

    @OptionGroup var options: SettingsOptions

    @Flag(name: [.short, .long], help: "Print no start message.")
    var quiet = false

    func validate() throws {
        if offline, let mode, mode != LarderSettings.Mode.offline.rawValue {
            throw ValidationError("--offline and --mode \(printable(mode)) contradict each other.")
        }
    }

    func run() throws {
        SignalThread.block()
        let loaded = try options.load(flags: flags, trustFiles: TrustFiles(opensKeyLog: true), runsTests: true)
        let plan = try ServingPlan(loaded, allowsEmpty: allowEmpty)
        let manager: ServiceManager
        do throws(ServiceManager.Problem) {
            manager = try ServiceManager()
        } catch {
            Terminal.talk("larder: \(error.reason)\n")
            throw ExitCode.failure
        }
        try serve(plan, loaded, for: manager)
    }

    /// The flags that are also settings.
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
    private func serve(_ plan: ServingPlan, _ loaded: LoadedSettings, for manager: ServiceManager) throws {
        let server = try RunningServer(plan, loaded, for: manager)
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
                addresses: server.addresses, storePath: plan.storePath, settingsFile: loaded.file,
                metrics: server.metricsAddress, page: server.pageAddress, mode: plan.settings.mode)
            Terminal.talk(message.text(style: Terminal.Style()))
        }
        server.reportReady()
        StartUpCode.letGo()
        SignalThread.run { server.handle($0) }
    }
}
