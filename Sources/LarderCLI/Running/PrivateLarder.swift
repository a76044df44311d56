import ArgumentParser
import CertificateAuthority
import EventLoop
import Foundation
import ProxyAdmin
import ProxyPolicy

/// A Larder for the time of one command: on a port of its own, with an admin socket of its own.
struct PrivateLarder {
    /// What a run is asked to be.
    struct Terms {
        var policy: String?
        /// `nil`: the store that the settings name, or none where that cannot be had.
        var store: String?
        /// Where the access log goes, beside being counted.
        var log: String?
        var isOffline = false
        /// Otherwise https is intercepted, by an authority of this run alone.
        var interceptsNobody = false
        /// Whether anybody wants to know what its requests became.
        var isCounted = false
    }

    /// As shells have no code of their own for: Larder itself could not do its part.
    static let failureCode = ExitCode(125)

    let address: ListenAddress
    let adminSocket: String?
    let settings: LarderSettings
    private let server: RunningServer
    private let log: TalliedLog?
    private let logFile: Int32?

    /// - Throws: 125, after saying what is wrong.
    init(_ options: SettingsOptions, _ terms: Terms, in folder: PrivateFolder) throws(ExitCode) {
        do throws(ExitCode) {
            log = terms.isCounted ? try Self.talliedLog(in: folder) : nil
            logFile = try terms.log.map { path throws(ExitCode) in try Self.openLog(path) }
            // Before there is a key in memory.
            ProcessMemorySecrecy.begin(hasChild: true)
            let authority = terms.interceptsNobody ? nil : try Self.authority()
            let loaded = try options.load(
                flags: Self.flags(terms, folder, logPath: log?.path ?? terms.log), defaults: ["log.level=error"],
                policy: terms.policy,
                trustFiles: TrustFiles(opensKeyLog: true, authority: authority, interceptsNobody: terms.interceptsNobody),
                hasChild: true)
            let clients = loaded.settings.clients
            if clients.passwords != nil, clients.authenticate == .all {
                throw Self.fail(
                    "clients.authenticate has everybody asked for a password, and the command knows none; `remote` asks nobody here"
                )
            }
            let plan = try ServingPlan(loaded, mayForgetWhatIsNew: terms.store == nil)
            server = try RunningServer(plan, loaded)
            settings = loaded.settings
            adminSocket = plan.adminSocketPath
            address = server.addresses[0]
        } catch { throw Self.failureCode }
        log?.collect(copy: logFile)
    }

    /// Ends it.
    /// - Returns: what its requests were, where they were counted.
    func close() -> RequestTally? {
        server.close()
        let tally = log?.finish()
        if let logFile { Foundation.close(logFile) }
        return tally
    }

    /// What a person should know of the store, where it is less than it could be.
    var storeRemark: String? { server.storeRemark }

    static func fail(_ reason: String) -> ExitCode {
        Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
        return failureCode
    }

    /// It lives in memory, and is gone with it.
    private static func authority() throws(ExitCode) -> LocalAuthority {
        try AuthorityCommand.made(AuthorityCommand.terms(days: authorityDays, constraint: nil))
    }

    /// No command runs for longer.
    private static let authorityDays = 30

    private static func talliedLog(in folder: PrivateFolder) throws(ExitCode) -> TalliedLog {
        do throws(SystemError) {
            return try TalliedLog(in: folder.path)
        } catch {
            throw fail("the requests cannot be counted: \(error)")
        }
    }

    private static func openLog(_ path: String) throws(ExitCode) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw fail("cannot write the log \(path): \(String(cString: strerror(errno)))") }
        return descriptor
    }

    /// What is not the settings' to say.
    private static func flags(
        _ terms: Terms, _ folder: PrivateFolder, logPath: String?
    ) -> [(flag: String, name: String, value: SettingsNode)] {
        var flags: [(flag: String, name: String, value: SettingsNode)] = [
            ("run", "listen", SettingsNode(.sequence([.plain("127.0.0.1:0")]), at: .none)),
            ("run", "admin.socket", .plain("\(folder.path)/admin.sock")),
            ("run", "log.access.format", .plain(logPath == nil ? "off" : "ndjson")),
        ]
        if let logPath { flags.append(("--log", "log.access.path", .plain(logPath))) }
        if terms.isOffline { flags.append(("--offline", "mode", .plain(LarderSettings.Mode.offline.rawValue))) }
        if let store = terms.store { flags.append(("--store", "store.path", .plain(store))) }
        return flags
    }
}
