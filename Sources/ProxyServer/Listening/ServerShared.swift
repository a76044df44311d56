import AccessLog
import EventLoop
import ProxyCore
import Recordings
import ResponseStore
import UpstreamTransport

/// What the loops share: the store, the fetches under way, the budgets upstream, and the active settings.
final class ServerShared: Sendable {
    /// The settings and what has been compiled from them; replaced as one by a reload.
    struct Current: Sendable {
        let settings: ServerSettings
        let context: ExchangeContext
        /// `nil` where no authority is given.
        let interception: Interception?
        /// `nil` where nothing is replayed and nothing recorded.
        let recordings: ActiveRecordings?
    }

    let store: ResponseStore
    let fetches = FetchTable()
    let background = BackgroundCount()
    let checks: CheckPool
    let variants = TransformCache()
    /// Of the contents of requests that are gathered.
    let requestMemory = GatheredMemory()
    /// The thread on which certificates for hosts are made.
    let leafMaker: LoopThread
    /// Threads on which handshakes with clients are begun, one for each loop.
    let handshakeBeginners: [LoopThread]
    let credentials = CredentialsJudge()
    let budgets: UpstreamBudgets
    let counts: ConnectionCounts
    let accessLog: AccessLog
    /// Says something to the person who runs this. Called on any thread.
    let warn: @Sendable (String) -> Void
    /// Sets this process's request names apart from another's.
    let instance: UInt64
    private let state: Guarded<Current>

    init(
        store: ResponseStore, checks: CheckPool, leafMaker: LoopThread, handshakeBeginners: [LoopThread],
        budgets: UpstreamBudgets,
        accessLog: AccessLog, instance: UInt64,
        current: Current,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.checks = checks
        self.leafMaker = leafMaker
        self.handshakeBeginners = handshakeBeginners
        self.budgets = budgets
        self.counts = ConnectionCounts(loops: handshakeBeginners.count)
        self.warn = warn
        self.accessLog = accessLog
        self.instance = instance
        state = Guarded(current)
    }

    var current: Current { state.withLock { $0 } }

    func replace(_ current: Current) { state.withLock { $0 = current } }
}
