import ArgumentParser
import AuditLog
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import Logging
import ProxyAdmin
import ServerTrust
import TextCoding

/// The audit log of a running server.
extension RunningServer {
    /// - Parameter file: the settings file.
    /// - Returns: `nil` if the settings name no audit log, or if this Larder serves one command.
    /// - Throws: an exit code, after reporting the problem.
    static func openAuditLog(_ plan: ServingPlan, _ file: String?, _ logger: Logger) throws(ExitCode) -> AuditLog? {
        guard !plan.servesCommand, let path = plan.settings.log.audit else { return nil }
        guard let folder = plan.stateFolder else {
            logger.error("cannot write the audit log: neither XDG_STATE_HOME nor HOME is set, so there is no folder for its key")
            throw ExitCode.failure
        }
        do throws(AuditLogUnusable) {
            let log = plan.settings.log
            var configuration = AuditLog.Configuration(
                path: URL(filePath: path).resolvingSymlinksInPath().path, folder: AuditFolder.path(inState: folder))
            configuration.requests = log.auditRequests == .all ? .all : .denied
            configuration.fileSize = Int64(clamping: log.auditFiles.size)
            configuration.fileMilliseconds = log.auditFiles.age.wholeMilliseconds
            configuration.fileCount = log.auditFiles.count
            return try AuditLog(
                configuration,
                started: [
                    ("version", .string(Version.number)), ("pid", .number(Int(getpid()))),
                    ("mode", .string(plan.settings.mode.rawValue)), ("settings_file", file.map(JSONText.string) ?? .null),
                    ("settings_sha256", .string(digest(of: plan.settings))),
                ]
            ) { logger.warning("\(printable($0, limit: 4096))") }
        } catch {
            logger.error("cannot write the audit log: \(printable(error.reason, limit: 4096))")
            throw ExitCode.failure
        }
    }

    /// The maximum number of changes, or of problems, in a line of the audit log, and the maximum length of each.
    private static let listLimit = 20, textLimit = 256

    func noteAudit(of reload: ControlRoutes.Reload) {
        guard let auditLog else { return }
        switch reload {
        case .done(let waiting, let changes):
            auditLog.note(
                .settings,
                [
                    ("outcome", .string("reloaded")),
                    ("settings_sha256", .string(Self.digest(of: served.withLock { $0.read }))),
                    ("changes", Self.list(changes)), ("waiting", Self.list(waiting)),
                ])
        case .refused(let problems):
            auditLog.note(.settings, [("outcome", .string("rejected")), ("problems", Self.list(problems))])
        }
    }

    func noteAudit(of outcome: ModeRoutes.Outcome, from former: LarderSettings.Mode, to mode: LarderSettings.Mode) {
        guard let auditLog else { return }
        var members: [(String, JSONText)] = [("from", .string(former.rawValue)), ("to", .string(mode.rawValue))]
        switch outcome {
        case .done:
            if mode == former { return }
            members.append(("outcome", .string("changed")))
        case .refused(let reason):
            members += [("outcome", .string("rejected")), ("reason", .string(String(reason.prefix(Self.textLimit))))]
        }
        auditLog.note(.mode, members)
    }

    private static func list(_ texts: [String]) -> JSONText {
        .array(
            texts.prefix(listLimit).map { .string(String($0.prefix(textLimit))) }
                + (texts.count > listLimit ? [.string("and \(texts.count - listLimit) more")] : []))
    }

    /// SHA-256 of the settings as `larder config show` prints them, in hexadecimal.
    private static func digest(of settings: LarderSettings) -> String {
        Hexadecimal.encode(SHA256Digest(of: Array(YAMLWriter.write(settings).utf8)).octets)
    }
}
