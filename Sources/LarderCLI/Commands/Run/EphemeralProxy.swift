import ArgumentParser
import CertificateAuthority
import CommandEnvironment
import CommandSupport
import EventLoop
import Foundation
import LarderSettings
import LocalCA
import ProxyPolicy
import SecretScanning
import ServerTrust
import Snapshots
import TextCoding

/// A Larder for the duration of one command, with its own port and its own admin socket.
struct EphemeralProxy {
    /// The options of a run.
    struct Terms {
        var policy: String?
        /// The project's settings, which are used if no policy is given.
        var project: ProjectSettings?
        /// The store's path; `nil` for the store in the settings, or no store if that cannot be opened.
        var store: String?
        /// The file to copy the access log to, in addition to counting its lines.
        var log: String?
        /// The mode of the run; `nil` for the mode in the settings.
        var mode: LarderSettings.Mode?
        /// Further settings that the settings file cannot change, each with the flag that sets it.
        var settings: [(flag: String, name: String, value: SettingsNode)] = []
        /// If false, https is intercepted with a temporary CA for this run only.
        var interceptsNobody = false
        /// Whether the requests are counted. Writing a log also counts them.
        var isCounted = false
        /// Gets each line of the access log, if the requests are counted.
        var observer: (@Sendable ([UInt8]) -> Void)?
        /// The network namespace to listen in; `nil`: this process's own.
        var network: OwnNetwork?
        /// The clock for the CA's dates; `nil`: this machine's.
        var clock: FormerClock?
    }

    /// The exit code for errors of Larder itself, which shells do not use for other purposes.
    static let failureCode = ExitCode(ProgramSearch.failureCode)

    let address: ListenAddress
    let adminSocket: String?
    let settings: LarderSettings
    private let server: RunningServer
    private let log: TalliedLog?
    private let logFile: Int32?
    private let logPath: String?

    /// - Throws: exit code 125, after reporting the problem.
    init(_ options: SettingsOptions, _ terms: Terms, in folder: PrivateFolder) throws(ExitCode) {
        do throws(ExitCode) {
            logFile = try terms.log.map { path throws(ExitCode) in try Self.openLog(path) }
            log = terms.isCounted || terms.log != nil ? try Self.talliedLog(in: folder, options, terms) : nil
            logPath = terms.log
            let authority = terms.interceptsNobody ? nil : try Self.authority(terms.clock)
            let loaded = try options.load(
                flags: Self.flags(terms, folder, logPath: log?.path), defaults: ["log.level=error"],
                policy: terms.policy, project: terms.policy == nil ? terms.project : nil,
                trustFiles: TrustFiles(opensKeyLog: true, authority: authority, interceptsNobody: terms.interceptsNobody),
                hasChild: true)
            if loaded.settings.clients.asksEverybody { throw Self.fail(Self.asking) }
            // If the recording cannot be re-recorded, the server reports that when it starts.
            if terms.clock != nil, (try? ServedSettings(loaded.settings).refreshingExpired())?.refreshed != nil {
                throw Self.fail(
                    "`replay.on_expired: refresh` cannot be used with --clock freeze, "
                        + "because `refresh` records today's responses")
            }
            let plan = try ServingPlan(loaded, mayForgetWhatIsNew: terms.store == nil, servesCommand: true)
            server = try RunningServer(
                plan, loaded, listening: terms.network.map { [$0.listener] }, transparent: terms.network?.transparent)
            terms.network?.serveNames(for: server.server)
            settings = loaded.settings
            address = server.addresses[0]
            adminSocket = plan.adminSocketPath(for: address)
        } catch { throw Self.failureCode }
        log?.collect(copy: logFile, mask: log == nil ? SecretMask() : Self.mask(for: settings), observer: terms.observer)
    }

    /// Stops the server.
    /// - Returns: the tally of its requests, if they were counted.
    func close() -> RequestTally? {
        server.letRecordingsEnd()
        server.close()
        guard let (tally, failure) = log?.finish() else { return nil }
        if let logFile { Foundation.close(logFile) }
        if let logPath, let failure {
            let reason = failure == ETIMEDOUT ? "no process reads the pipe" : String(cString: strerror(failure))
            Terminal.talk("larder: the log \(printable(logPath, limit: 4096)) is incomplete: \(reason)\n")
        }
        return tally
    }

    /// The recordings that this Larder writes and replays.
    var recordings: RunningRecordings { server.recordings }

    /// The expired recording that is re-recorded instead of replayed.
    var refreshed: ExpiredRecording? { server.served.withLock { $0.refreshed } }

    /// A message about the store if the store cannot be used, or can only be read.
    var storeRemark: String? { server.storeRemark }

    static let asking =
        "clients.authenticate requires a password from every client, but programs have no password; the value `remote` exempts clients on this machine"

    static func fail(_ reason: String) -> ExitCode {
        Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
        return failureCode
    }

    /// The CA exists only in memory.
    private static func authority(_ clock: FormerClock?) throws(ExitCode) -> LocalAuthority {
        let offset = clock?.offset ?? 0
        var authority = try AuthorityCommand.made(
            RootTerms.ofThisMachine(days: authorityDays, constraint: nil), at: POSIXTime(seconds: POSIXTime.now.seconds + offset))
        authority.clockOffset = offset
        return authority
    }

    /// The lifetime of the CA, in days: longer than any command runs.
    private static let authorityDays = 30

    private static func talliedLog(
        in folder: PrivateFolder, _ options: SettingsOptions, _ terms: Terms
    ) throws(ExitCode) -> TalliedLog {
        do throws(SystemError) {
            return try TalliedLog(in: folder.path, copiesQueries: terms.log != nil && logsQueries(options, policy: terms.policy))
        } catch {
            throw fail("cannot count the requests: \(error)")
        }
    }

    /// Whether the user's own settings log the queries of URLs. The log of a run always contains them, for its summary.
    private static func logsQueries(_ options: SettingsOptions, policy: String?) -> Bool {
        let sources = SettingsSources(file: options.config, policy: policy, assignments: options.set, flags: [], trustFiles: nil)
        // Problems in the settings are not reported here, but when the settings are loaded for serving.
        guard case .settings(let settings) = sources.load().outcome else { return false }
        return settings.log.access.includesQuery
    }

    /// Masks the values that a recording's match file, and the recordings themselves, declare as secrets.
    private static func mask(for settings: LarderSettings) -> SecretMask {
        guard settings.replays || settings.recordingPurpose != nil else { return SecretMask() }
        let recordings = settings.recordings
        var terms: [MatchTerms] = []
        // The server has already read these files, so only a recording that does not exist yet cannot be opened.
        if let match = recordings.match, let text = try? LocalFile.bytes(at: match, atMost: SnapshotLimits.manifestLength),
            let declared = try? MatchTerms(text: text)
        {
            terms.append(declared)
        }
        for path in recordings.files + (recordings.file.map { [$0] } ?? []) {
            if let snapshot = try? Snapshot(path: path) { terms.append(snapshot.manifest.terms) }
        }
        return (try? SecretMask(terms)) ?? SecretMask()
    }

    private static func openLog(_ path: String) throws(ExitCode) -> Int32 {
        // Standard output is not opened by its path: it may be a socket, which has no path to open. If it is a file, writing must
        // continue at the current position.
        let given = path == "-" ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1
        if given >= 0 { return given }
        // A pipe without a reader is an error; Larder does not wait for a reader.
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        if descriptor >= 0 { return descriptor }
        throw fail(
            "cannot write the log \(path): \(errno == ENXIO ? "no process reads the pipe" : String(cString: strerror(errno)))")
    }

    /// Settings that the settings file cannot change.
    private static func flags(
        _ terms: Terms, _ folder: PrivateFolder, logPath: String?
    ) -> [(flag: String, name: String, value: SettingsNode)] {
        var flags: [(flag: String, name: String, value: SettingsNode)] = [
            ("run", "listen", SettingsNode(.sequence([.plain("127.0.0.1:0")]), at: .none)),
            ("run", "admin.socket", .plain(folder.adminSocket)),
            ("run", "log.access.format", .plain(logPath == nil ? "off" : "ndjson")),
        ]
        if let logPath {
            flags += [
                ("run", "log.access.path", .plain(logPath)),
                ("run", "log.access.query", SettingsNode(.scalar(SettingsScalar("true", isQuoted: false)), at: .none)),
            ]
        }
        if let mode = terms.mode { flags.append(("--\(mode.rawValue)", "mode", .plain(mode.rawValue))) }
        if let store = terms.store { flags.append(("--store", "store.path", .plain(store))) }
        return flags + terms.settings
    }
}
