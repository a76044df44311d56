import AccessLog
import ArgumentParser
import AuditLog
import CertificateAuthority
import ClientPasswords
import CommandSupport
import Dispatch
import EventLoop
import Foundation
import HTTPMessage
import LarderSettings
import Logging
import PolicyTools
import ProxyAdmin
import ProxyServer
import ResponseStore
import SharedTier
import Synchronization
import TextCoding
import UpstreamTransport

/// The server of `serve`, from start to end, and its reactions to signals.
final class RunningServer: Sendable {
    let server: ProxyServer
    let store: ResponseStore
    /// A message about the store if the store is not available as the settings require.
    let storeRemark: String?
    /// The responses that the machines of a farm share; `nil` without `store.shared.url`.
    let tier: SharedTier?
    private let tierBinding: TierBinding
    let accessLog: AccessLog
    /// The audit log; `nil` if the settings name none, or for a Larder that serves one command.
    let auditLog: AuditLog?
    /// The export of traces and logs; `nil` if the settings name no collector.
    let telemetry: TelemetryExport?
    private let webhook: ApprovalWebhook?
    private let freedMemory: FreedMemory?
    private let sources: SettingsSources
    /// The name of this Larder in Via.
    let pseudonym: String
    private let room: DescriptorRoom
    /// The settings at the start.
    let startedWith: LarderSettings
    /// The active settings.
    let served: Guarded<ServedSettings>
    /// The files that the active settings were read from.
    let readFiles: Guarded<(file: String?, empty: [String])>
    /// The source of each active setting that a source sets.
    let settingOrigins: Guarded<[String: String]>
    private let allowsEmpty: Bool
    /// Whether somebody can answer questions: not the command that this Larder serves.
    private let hasApprovers: Bool
    let pinAudit = PinAudit()
    let recordings: RunningRecordings
    let log: ProcessLog
    private let manager: ServiceManager
    /// The servers of the admin socket and of `metrics.listen`.
    private let admin = Guarded<[AdminServer]>([])
    /// The address that serves metrics; `nil` without `metrics.listen`.
    let metricsAddress: ListenAddress?
    /// The page's listener, while it is open.
    let page = RunningPage()
    let history = CounterHistory()
    /// The addresses of listeners that do not belong to the proxy, such as `metrics.listen` and the page's.
    let otherListeners: Guarded<[PeerAddress]>
    let startedAt = Timestamp.now
    /// The latest attempt to read the settings.
    let latestReload: Guarded<(at: Timestamp, succeeded: Bool)>
    /// Serializes changes of the active settings.
    private let reloading = DispatchQueue(label: "reload")
    private let isDraining = Atomic<Bool>(false)
    private let isEnding = Atomic<Bool>(false)

    let addresses: [ListenAddress]

    /// Opens the listeners and the store, and serves.
    /// - Parameters:
    ///   - manager: receives messages about the server's state. The sockets that it passed, if any, are bound to addresses in the
    ///     settings.
    ///   - opened: the sockets of all the settings' addresses, if they were opened before.
    ///   - transparent: sockets for clients that connect to origins; `nil` for none.
    /// - Throws: exit code 1 or 2, after reporting the problem.
    init(
        _ plan: ServingPlan, _ loaded: LoadedSettings, for manager: ServiceManager = .none,
        listening opened: [ListeningSocket]? = nil, transparent: TransparentSockets? = nil
    ) throws(ExitCode) {
        let settings = plan.settings
        self.manager = manager
        log = ProcessLog(level: settings.log.level)
        let logger = log.logger
        LargeBlocks.giveBack()
        recordings = RunningRecordings { logger.error("\(printable($0, limit: 4096))") }
        room = DescriptorRoom(
            limit: DescriptorLimit.raise(), origins: settings.upstream.connections, refusals: ServerSettings().refusalLimit,
            loops: plan.loopCount)
        DescriptorLimit.reserve(room.total(of: ServerSettings().connectionLimit))
        let sockets = if let opened { opened } else { try Self.bind(settings.listen, passed: manager.sockets, logger) }
        (store, storeRemark) = try Self.openStore(plan, logger)
        tierBinding = TierBinding(storePath: plan.storePath == ":memory:" ? nil : plan.storePath) { logger.warning("\($0)") }
        tier = try SharedTierAssembly.tier(plan, store: store, tierBinding, logger)
        // Each Larder has its own name in Via, so that two chained Larders do not look like a loop.
        pseudonym = "larder-" + Hexadecimal.encode(padded: UInt32.random(in: 0...UInt32.max))
        do {
            accessLog = try ServerAssembly.accessLog(settings) { logger.warning("\($0)") }
        } catch {
            logger.error("cannot write the access log \(printable(settings.log.access.path)): \(error)")
            throw ExitCode.failure
        }
        auditLog = try Self.openAuditLog(plan, loaded.file, logger)
        telemetry = try TelemetryExport.start(settings, log)
        // The admin socket is opened after the store, which fails more often. Every failure below closes the socket.
        let adminSocket = try Self.openAdminSocket(
            plan, for: sockets.first.map { ListenAddress(address: $0.address.address, port: $0.address.port) } ?? .defaults[0],
            logger)
        let metricsSocket: ListeningSocket?
        let pageSocket: ListeningSocket?
        do throws(ExitCode) {
            // A Larder that serves one command opens neither: the addresses belong to the Larder of `larder serve`.
            metricsSocket = plan.servesCommand ? nil : try Self.openSocket(settings.metrics.listen, "metrics.listen", logger)
            pageSocket = plan.servesCommand ? nil : try Self.openSocket(settings.admin.listen, "admin.listen", logger)
        } catch {
            adminSocket?.close()
            throw error
        }
        metricsAddress = metricsSocket.map { ListenAddress(address: $0.address.address, port: $0.address.port) }
        let others = [metricsSocket, pageSocket].compactMap { $0?.address }
        otherListeners = Guarded(others)
        latestReload = Guarded((startedAt, true))
        // Listening begins after the admin socket is opened, so that a client that can connect to a port also finds the admin socket.
        if opened == nil {
            do throws(ExitCode) {
                try Self.listen(sockets, logger)
            } catch {
                adminSocket?.close()
                throw error
            }
        }
        let active: ServedSettings
        do {
            active = try ServedSettings(settings).refreshingExpired()
            var serverSettings = ServerAssembly.serverSettings(active.settings)
            serverSettings.pseudonym = pseudonym
            serverSettings.otherListeners = others
            serverSettings.listenerTLS = try ServerAssembly.listenerTLS(settings, of: settings)
            serverSettings.transport.audit = pinAudit
            serverSettings.hasApprovers = !plan.servesCommand
            room.bound(&serverSettings)
            try recordings.prepare(&serverSettings, for: active.settings)
            server = try ProxyServer(
                serverSettings, rules: settings.policy, shadow: settings.shadow.loaded, store: store, tier: tier,
                sockets: sockets,
                transparent: transparent, loops: plan.loopCount,
                budgets: ServerAssembly.budgets(settings, atMost: room.origins), accessLog: accessLog, auditLog: auditLog,
                telemetry: telemetry?.telemetry
            ) { logger.warning("\($0)") }
            let hook = plan.servesCommand ? nil : settings.approvals.webhook
            webhook = try hook.map { [server] in try ApprovalWebhook(server, logger, url: $0) }
        } catch let refusal as RunningRecordings.Refusal {
            adminSocket?.close()
            logger.error("\(printable(refusal.reason, limit: 4096))")
            throw ExitCode.failure
        } catch {
            adminSocket?.close()
            logger.error("cannot start: \(error)")
            throw ExitCode.failure
        }
        if tier != nil { tierBinding.bind(server) }
        addresses = server.addresses.enumerated().map { index, bound in
            var address = ListenAddress(address: bound.address, port: bound.port)
            address.tls = settings.listen[index].tls
            return address
        }
        sources = loaded.sources
        startedWith = settings
        served = Guarded(active)
        readFiles = Guarded((loaded.file, loaded.emptyFiles))
        settingOrigins = Guarded(loaded.origins)
        allowsEmpty = plan.allowsEmpty
        hasApprovers = !plan.servesCommand
        if !allowsEmpty {
            for file in loaded.emptyFiles { logger.warning("\(printable(file, limit: 4096)) is empty: it sets nothing") }
        }
        for warning in settings.tls.warnings() + settings.admissionWarnings + settings.policyWarnings + active.replayWarnings {
            logger.warning("\(warning)")
        }
        // Without `FreedMemory`, serving still works but uses more memory.
        freedMemory = try? FreedMemory()
        if let adminSocket { try serveAdmin(on: adminSocket, plan) }
        if let metricsSocket { try serveMetrics(on: metricsSocket, plan) }
        if let pageSocket { try servePage(on: pageSocket, plan, samples: adminSocket == nil) }
    }

    /// The active trust settings.
    var trust: TrustSettings { served.withLock { $0.read.tls } }

    /// Handles a signal.
    func handle(_ event: SignalThread.Event) {
        switch event {
        case .drain: drain()
        case .end: end()
        case .reload: reload { _ in }
        case .reopenLogs:
            accessLog.reopen()
            auditLog?.reopen()
        }
    }

    /// Stops accepting, waits for exchanges in flight up to the limit, then exits; at the second call it exits at once. The exit waits
    /// for the loops' threads, so it runs on a separate thread, which a loop that has drained only wakes.
    func drain() {
        if isDraining.exchange(true, ordering: .relaxed) { return Thread.detachNewThread { self.end() } }
        manager.send(.stopping)
        let drained = DispatchSemaphore(value: 0)
        server.drain { drained.signal() }
        let limit = served.withLock { $0.read.timeouts.drain }
        Thread.detachNewThread {
            let deadline = DispatchTime.now() + .milliseconds(Int(clamping: limit.wholeMilliseconds))
            if drained.wait(timeout: deadline) == .timedOut {
                self.log.logger.notice("closing the connections that are still open after \(limit)")
            }
            self.end()
        }
    }

    /// Keeps a server of the admin API alive until Larder ends.
    func keep(_ admin: AdminServer) { self.admin.withLock { $0.append(admin) } }

    private func stopAdmin() {
        let servers = admin.withLock { servers in
            defer { servers = [] }
            return servers
        }
        for server in servers { server.stop() }
    }

    /// Stops a server of the admin API before Larder ends.
    func end(_ admin: AdminServer) {
        self.admin.withLock { $0.removeAll { $0 === admin } }
        admin.stop()
    }

    /// Whether this Larder accepts no further clients.
    var isStopping: Bool { isDraining.load(ordering: .relaxed) }

    /// Called after the drain, and by a second signal. The first caller ends the process; a later caller waits for the end.
    private func end() -> Never {
        while isEnding.exchange(true, ordering: .acquiringAndReleasing) { DispatchSemaphore(value: 0).wait() }
        close()
        Foundation.exit(0)
    }

    /// Stops accepting, and gives exchanges that are being recorded some time to complete, even if the client disconnected before the end
    /// of the response. Call this after a command has ended, before `close`.
    func letRecordingsEnd() {
        guard recordings.file != nil else { return }
        let drained = DispatchSemaphore(value: 0)
        server.drain { drained.signal() }
        _ = drained.wait(timeout: .now() + RunningRecordings.patience)
    }

    /// Stops everything that serves, and waits until all of it has ended. Call it once.
    func close() {
        stopAdmin()
        freedMemory?.close()
        tierBinding.bind(nil)
        tier?.stop()
        server.stop()
        // If a change of the settings is in progress, waits until it is complete.
        reloading.sync {}
        // That change may have opened the page.
        stopAdmin()
        store.shutdown()
        finishRecording()
        webhook?.close()
        telemetry?.close()
        auditLog?.close()
        if !accessLog.close() { log.logger.warning("cannot write the access log: its last lines are lost") }
    }

    /// Reads the settings again; if they are invalid, the active settings stay.
    /// - Parameters:
    ///   - allowsEmpty: whether to accept an empty file, and the loss of all rules, passwords or pins; a server that was started with
    ///     that permission accepts it anyway.
    ///   - ended: called with the outcome, on another thread.
    func reload(allowingEmpty allowsEmpty: Bool = false, _ ended: @escaping @Sendable (ControlRoutes.Reload) -> Void) {
        inTurn(
            {
                self.manager.send(.reloading)
                defer { self.reportReady() }
                let outcome = self.readAgain(allowingEmpty: allowsEmpty || self.allowsEmpty)
                self.latestReload.withLock { $0 = (.now, outcome.isDone) }
                self.noteAudit(of: outcome)
                return outcome
            }, ended)
    }

    /// Sends the service manager the message that Larder serves, unless Larder is stopping.
    func reportReady() {
        if isStopping { return }
        let status = "listens on " + addresses.map(\.description).joined(separator: " and ")
        if !manager.send(.ready(status: status)) {
            log.logger.warning(
                "Larder could not tell the service manager that it is ready: the socket in NOTIFY_SOCKET is not reachable")
        }
    }

    /// Changes the active settings, one change at a time. It runs on its own thread, since a recording that ends waits for
    /// exchanges.
    /// - Parameter ended: called with the outcome, on that thread.
    func inTurn<Outcome>(_ change: @escaping @Sendable () -> Outcome, _ ended: @escaping @Sendable (Outcome) -> Void) {
        reloading.async { ended(change()) }
    }

    private func readAgain(allowingEmpty allowsEmpty: Bool) -> ControlRoutes.Reload {
        let loaded = sources.load(isFirst: false)
        switch loaded.outcome {
        case .problems(let problems):
            for problem in problems { Terminal.talk("\(problem)\n") }
            log.logger.error("the settings were not reloaded: the active settings are unchanged")
            return .refused(problems: problems.map(\.description))
        case .settings(let settings):
            let former = readFiles.withLock { $0 }
            let losses =
                allowsEmpty
                ? []
                : SettingsLoss.reasons(
                    from: served.withLock { $0.read }, file: former.file, empty: former.empty, to: settings, loaded)
            if !losses.isEmpty {
                for loss in losses {
                    log.logger.error("the settings were not reloaded: \(loss); the active settings are unchanged")
                }
                return .refused(problems: losses)
            }
            let changes = PolicyComparison.differences(
                from: served.withLock { $0.read.policy }, to: settings.policy, changes: PolicyToolLimits.reloadChanges,
                steps: PolicyToolLimits.reloadSteps
            ).lines.map { printable($0, limit: 4096) }
            do throws(RunningRecordings.Refusal) {
                try activate(served.withLock { $0.reading(settings) })
            } catch {
                log.logger.error("\(printable(error.reason, limit: 4096)); the active settings are unchanged")
                return .refused(problems: [error.reason])
            }
            readFiles.withLock { $0 = (loaded.file, loaded.emptyFiles) }
            settingOrigins.withLock { $0 = loaded.origins }
            let warnings = loaded.warnings + settings.tls.warnings() + settings.admissionWarnings + settings.policyWarnings
            for warning in warnings + served.withLock({ $0.replayWarnings }) {
                log.logger.warning("\(warning)")
            }
            let waiting = SettingsSchema.needingRestart(from: startedWith, to: settings)
            for name in waiting { log.logger.warning("\(name) has changed; the change takes effect at the next start") }
            log.logger.notice("the settings were reloaded")
            for change in changes { log.logger.notice("\(change)") }
            return .done(waiting: waiting, changes: changes)
        }
    }

    /// Makes these settings apply to all further requests. Call it only within `inTurn`.
    /// - Throws: why the settings cannot be activated; the active settings then stay.
    func activate(_ next: ServedSettings) throws(RunningRecordings.Refusal) {
        let next = try next.refreshingExpired()
        let settings = next.settings
        if let problem = SettingsConsistency.modeProblem(in: settings) {
            throw RunningRecordings.Refusal(reason: "mode: \(problem)")
        }
        var serverSettings = ServerAssembly.serverSettings(settings)
        serverSettings.pseudonym = pseudonym
        serverSettings.otherListeners = otherListeners.withLock { $0 }
        do throws(CertificateAuthority.AuthorityFault) {
            serverSettings.listenerTLS = try ServerAssembly.listenerTLS(settings, of: startedWith, active: server.listenerTLS)
        } catch {
            throw RunningRecordings.Refusal(reason: "listen: cannot set up TLS: \(error)")
        }
        if serverSettings.lacksAuthority {
            throw RunningRecordings.Refusal(
                reason:
                    "tls.authority: the new settings use no CA, but an open listener has a certificate from the CA; restart Larder"
            )
        }
        if let passwords = serverSettings.admission.passwords, let former = server.passwords, passwords.isSame(as: former) {
            serverSettings.admission.passwords = former
        }
        serverSettings.transport.audit = pinAudit
        serverSettings.hasApprovers = hasApprovers
        room.bound(&serverSettings)
        if let tier {
            do throws(SharedTierAssembly.Unusable) {
                try SharedTierAssembly.reloadKeys(tier, startedWith.store.shared)
            } catch {
                throw RunningRecordings.Refusal(reason: "store.shared.keys: \(error.reason)")
            }
        }
        try recordings.prepare(&serverSettings, for: settings)
        server.reload(serverSettings, rules: settings.policy, shadow: settings.shadow.loaded)
        served.withLock { $0 = next }
        if let former = recordings.finish(unlessFor: settings) { note(former.result, former.file) }
        log.setLevel(settings.log.level)
        let policies = settings.tls.loaded?.policies
        pinAudit.keep { policies?.policy(host: $0, port: $1)?.pins?.areOnlyReported(at: .now) ?? false }
    }
}
