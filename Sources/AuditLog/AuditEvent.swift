/// What a line of the audit log reports.
package enum AuditEvent: String, CaseIterable, Sendable {
    /// Larder began a new file. Also the first line of every log.
    case opened
    /// Larder started or stopped.
    case started, stopped
    /// The settings were reloaded, or a reload was rejected.
    case settings
    /// The mode was changed, or the change was rejected.
    case mode
    /// A request was denied, or would be denied outside of report mode.
    case denied
    /// A request was allowed (`log.audit_requests: all`).
    case allowed
    /// A request waits for an approver, or has stopped waiting.
    case asked, answered
    /// The certificates of a server were accepted or rejected.
    case trust
    /// Events are missing, because the file could not be written fast enough.
    case lost
    /// A signature over all lines up to this one.
    case seal
}
