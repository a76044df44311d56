import HTTPCaching
import HTTPMessage

/// Every decision about one exchange, each as a value with its reason: the one record from which the access log, the metrics
/// and explanations are made.
package struct DecisionTrace: Sendable {
    /// How the request was answered in the end.
    package enum Outcome: UInt8, Sendable, CaseIterable {
        case none, hit, staleHit, revalidated, miss, refreshed, bypass, collapsed, denied, tunnel, local, failed, background,
            replayed, recorded

        /// The word in the log.
        package var word: StaticString {
            switch self {
            case .none: "none"
            case .hit: "hit"
            case .staleHit: "stale_hit"
            case .revalidated: "revalidated"
            case .miss: "miss"
            case .refreshed: "refreshed"
            case .bypass: "bypass"
            case .collapsed: "collapsed"
            case .denied: "denied"
            case .tunnel: "tunnel"
            case .local: "local"
            case .failed: "failed"
            case .background: "background"
            case .replayed: "replayed"
            case .recorded: "recorded"
            }
        }
    }

    package var outcome: Outcome = .none
    /// What the store had, and how it was judged.
    package internal(set) var candidates = CandidatesTrace()
    /// Why a stored response could or could not be used; `nil` where none was looked for.
    package var reuse: ReuseDecision?
    /// Why the response was or was not kept; `nil` where that was not asked.
    package var storage: StorageTrace?
    /// What recordings had to do with it; `nil` where none were asked, and nothing was recorded.
    package internal(set) var recording: RecordingTrace?
    package var fault: Fault?
    /// Conditions of ours, with which the origin was asked: once at least, where it was asked more than once.
    package internal(set) var sentConditions = RequestConditions()
    /// Status sent to the client, 0 before one was.
    package var status: UInt16 = 0
    /// Status that the origin gave, 0 where it was not asked or did not answer.
    package var upstreamStatus: UInt16 = 0
    /// How often the origin's body broke off and its rest was asked for.
    package var continuations: UInt8 = 0
    /// It was asked for in plain text, and fetched over https, as a rule has it.
    package internal(set) var isUpgraded = false
    /// What became of the content where rules want something made of it; `nil` where none does, or there is none.
    package internal(set) var transform: TransformTrace?
    package var receivedAt = Timestamp(milliseconds: 0)
    /// What the rules' validation found, outermost first, where it was not blocked for it.
    package var findings = ValidationFaults()

    @inline(__always)
    package init() {}

    /// A rule that is unsafe by its own word was needed for what was decided.
    package var usedUnsafeRule: Bool {
        if case .stored(_, _, usedUnsafe: true) = storage { return true }
        return switch reuse {
        case .fresh(let terms), .staleAllowed(let terms, _): terms.usedUnsafe
        case .validate, .forward, .notSatisfiable, .offlineMiss, nil: false
        }
    }
}
