import AdminClient
import ArgumentParser
import EventLoop
import Foundation
import HTTPMessage
import LarderSettings
import Logging
import ProxyAdmin
import ProxyServer

/// The routes of a running server's admin socket.
extension RunningServer {
    /// If a socket that the settings name cannot be opened, this is an error. The default socket is omitted if there is no place for it. A
    /// socket in use is always an error: the Larder that uses it could no longer be found.
    static func openAdminSocket(_ plan: ServingPlan, for listener: ListenAddress, _ logger: Logger) throws(ExitCode)
        -> AdminSocket?
    {
        guard let path = plan.adminSocketPath(for: listener) else {
            if plan.settings.admin.socket == .auto {
                logger.notice("no admin socket: its path is unknown")
            }
            return nil
        }
        do throws(AdminSocketError) {
            let socket = try AdminSocket(path: path)
            if plan.settings.admin.socket == .auto { AdminSocketPath.removeLeftOvers(beside: path) }
            return socket
        } catch {
            if case .failed = error, plan.settings.admin.socket == .auto {
                logger.notice("no admin socket: \(error)")
                return nil
            }
            logger.error("no admin socket: \(error); set admin.socket to another path, or to off")
            throw ExitCode.failure
        }
    }

    func serveAdmin(on socket: AdminSocket, _ plan: ServingPlan) throws(ExitCode) {
        do throws(SystemError) {
            let logger = log.logger
            let (history, server) = (history, server)
            try keep(
                AdminServer(
                    socket, routes: routes(plan), alongside: { HistorySampler.start(history, server, on: $0) },
                    warn: { logger.warning("\($0)") }))
        } catch {
            log.logger.error("the admin socket is not available: \(error)")
            throw ExitCode.failure
        }
    }

    /// Opens the socket that a setting names, for monitoring or for the page; `nil` if the setting is off.
    static func openSocket(_ address: ListenAddress?, _ setting: String, _ logger: Logger) throws(ExitCode) -> ListeningSocket? {
        guard let address else { return nil }
        do throws(SystemError) {
            return try ListeningSocket(host: "\(address.address)", port: address.port)
        } catch {
            logger.error("cannot listen on \(setting), \(address): \(String(cString: strerror(error.code)))")
            throw ExitCode.failure
        }
    }

    func serveMetrics(on socket: ListeningSocket, _ plan: ServingPlan) throws(ExitCode) {
        do throws(SystemError) {
            let logger = log.logger
            let routes = MetricsRoutes.all(of: statusSource(plan), server: server, store: store)
            try keep(AdminServer(forMonitoring: socket, routes: routes) { logger.warning("\($0)") })
        } catch {
            log.logger.error("metrics.listen is not available: \(error)")
            throw ExitCode.failure
        }
    }

    /// The table of routes: each module's routes are added here.
    func routes(_ plan: ServingPlan) -> [AdminRoute] {
        let control =
            [
                ControlRoutes.reload { allowsEmpty, ended in self.reload(allowingEmpty: allowsEmpty, ended) },
                ControlRoutes.stop { self.drain() },
                ApprovalRoutes.answer(server, file: { self.approvalsFile }) { self.writeApproval(of: $0, $1, $2) },
            ] + modeRoutes
        let status = statusSource(plan)
        let routes =
            [
                StatusRoute.route(of: status, server: server, store: store),
                ClientSetUpRoute.route(addresses) { self.trust },
                PinAuditRoute.route(pinAudit) { self.trust }, PolicyReportRoute.route(server),
                PolicyRoute.route(server: server), HistoryRoute.route(history, server: server),
                RecordingsRoute.route(recordings) { self.served.withLock { $0.settings } },
                SettingsRoute.route(startedWith) { self.settingsWithOrigins },
                TrustRoute.route { self.trust }, TrustRoute.servers(store),
                PageRoute.route { self.openPage(plan, $0) }, ApprovalRoutes.list(server) { self.approvalsFile },
            ] + (plan.servesCommand ? control.map(\.closedToCommand) : control) + CacheRoutes.all(store, server)
            + FarmRoutes.all(tier)
            + MetricsRoutes.all(of: status, server: server, store: store)
            + RequestRoutes.routes(server: server)
            + ExplainRoutes.routes(server: server, store: store, tellsQuery: plan.settings.log.access.includesQuery)
        return routes + [OpenAPIRoute.route(of: routes, version: Version.number)]
    }

    private var settingsWithOrigins: (settings: LarderSettings, origins: [String: String]) {
        let served = served.withLock { $0 }
        var origins = settingOrigins.withLock { $0 }
        if served.settings.mode != served.read.mode { origins["mode"] = "larder mode" }
        return (served.settings, origins)
    }

    /// The warnings of the active settings, then the recent warnings.
    private func warnings() -> [StatusSource.Warning] {
        let now = Timestamp.now
        let standing = served.withLock { $0.read.policyWarnings } + trust.warnings()
        return standing.map { StatusSource.Warning(at: now, message: $0) }
            + log.warnings.all.filter { !standing.contains($0.message) }
    }

    private func statusSource(_ plan: ServingPlan) -> StatusSource {
        let accessLog = accessLog
        var source = StatusSource(
            version: Version.number, process: getpid(),
            startedAt: startedAt,
            settingsFile: { self.readFiles.withLock { $0.file } },
            listeners: addresses.map(\.description), loops: plan.loopCount, storePath: plan.storePath,
            storeLimit: Int(clamping: plan.settings.store.disk.high),
            memoryLimit: Int(clamping: plan.settings.store.memory.marks.high),
            droppedLines: { accessLog.droppedCount }, latestReload: { self.latestReload.withLock { $0 } },
            unreadyReason: { self.isStopping ? "Larder is stopping" : nil }, warnings: { self.warnings() },
            pinChecks: {
                self.pinAudit.findings.listed.map { ("\($0.host):\($0.port)", $0.matchedCount, $0.mismatchedCount) }
            })
        source.auditLog = auditLog
        if let tier {
            source.sharedTier = { .init(json: FarmReport(status: tier.status, nodes: nil).summary, metrics: tier.status.metrics) }
        }
        if let telemetry = telemetry?.telemetry { source.undelivered = { telemetry.droppedCount } }
        return source
    }
}

extension AdminRoute {
    /// The same route for a Larder that serves one command. The command can use the admin socket, but only to read.
    fileprivate var closedToCommand: AdminRoute {
        if access == .read { return self }
        return AdminRoute(method, path, access, parameters: parameters) { request, exchange in
            let reason = "a command cannot reload, stop, answer or change the mode of the Larder that runs it"
            if request.wantsText {
                exchange.answer(Status(403), text: "\(reason)\n")
            } else {
                exchange.answer(Status(403), json: .object([("error", .string(reason))]))
            }
        }
    }
}
