import AccessLog
import AuditLog
import BodyTransforms
import EventLoop
import ProxyCore
import Recordings
import ResponseStore
import SharedFetches
import Telemetry
import UpstreamTransport

/// The state that the loops share: the store, fetches in flight, upstream budgets, and the active settings.
final class ServerShared: Sendable {
    /// The settings and the values derived from them; a reload replaces them together.
    struct Current: Sendable {
        let settings: ServerSettings
        let context: ExchangeContext
        /// The TLS setup for intercepted clients; `nil` without a CA.
        let interception: Interception?
        /// The sources of replay, and the file to record into; `nil` if nothing is replayed or recorded.
        let recordings: ActiveRecordings?
    }

    let store: ResponseStore
    /// The responses that several machines share; `nil` if the settings name no shared tier.
    let tier: (any SharedResponses)?
    let fetches = FetchTable()
    let background = BackgroundCount()
    let checks: CheckPool
    let variants = TransformCache()
    /// Counts the memory that gathered request contents use, up to a limit.
    let requestMemory = GatheredMemory()
    /// The thread that issues certificates for hosts.
    let leafMaker: LoopThread
    /// Threads that begin handshakes with clients, one for each loop.
    let handshakeBeginners: [LoopThread]
    let credentials = CredentialsJudge()
    let limits = SharedLimits()
    let clientResets = ClientResets()
    let reports = PolicyReports()
    let approvals: Approvals
    let budgets: UpstreamBudgets
    let counts: ConnectionCounts
    let accessLog: AccessLog
    /// The audit log; `nil` if the settings name none.
    let auditLog: AuditLog?
    /// The collector of spans; `nil` if requests are not traced.
    let telemetry: Telemetry?
    /// Reports a warning to the operator. Called on any thread.
    let warn: @Sendable (String) -> Void
    /// Distinguishes this process's request ids from those of other processes.
    let instance: UInt64
    private let state: Guarded<Current>

    init(
        store: ResponseStore, tier: (any SharedResponses)?, checks: CheckPool, leafMaker: LoopThread,
        handshakeBeginners: [LoopThread],
        budgets: UpstreamBudgets,
        accessLog: AccessLog, auditLog: AuditLog?, telemetry: Telemetry?, instance: UInt64,
        current: Current,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.tier = tier
        self.checks = checks
        self.leafMaker = leafMaker
        self.handshakeBeginners = handshakeBeginners
        self.budgets = budgets
        self.counts = ConnectionCounts(loops: handshakeBeginners.count)
        self.warn = warn
        self.accessLog = accessLog
        self.auditLog = auditLog
        approvals = Approvals(auditLog)
        self.telemetry = telemetry
        self.instance = instance
        state = Guarded(current)
    }

    var current: Current { state.withLock { $0 } }

    func replace(_ current: Current) { state.withLock { $0 = current } }
}
