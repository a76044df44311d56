import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// Every decision about one exchange, as values with reasons: the source for the access log, the metrics and explanations.
package struct DecisionTrace: Sendable {
    /// The way in which the request was answered.
    package enum Outcome: UInt8, Sendable, CaseIterable {
        case none, hit, staleHit, revalidated, miss, refreshed, bypass, collapsed, denied, tunnel, local, failed, background,
            replayed, recorded

        /// The word for the outcome in the log.
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
    /// The candidates in the store, and their evaluation.
    package internal(set) var candidates = CandidatesTrace()
    /// Why a stored response could or could not be reused; `nil` if none was looked up.
    package var reuse: ReuseDecision?
    /// Why the response was or was not stored; `nil` if that was not decided.
    package var storage: StorageTrace?
    /// How recordings were involved; `nil` if no recording was looked up or made.
    package internal(set) var recording: RecordingTrace?
    package var fault: Fault?
    /// The rule whose limit ended the request, or that asked an approver, by its index among the matching rules.
    package internal(set) var decidingRule: UInt32?
    /// Why the rules would deny the request if report mode did not forward it; `nil` if they would not.
    package internal(set) var reported: ReportedDenial?
    /// How the shadow policy's verdict differs; `nil` if there is no shadow policy, or if its verdict is the same.
    package internal(set) var shadow: ShadowDifference?
    /// The conditions that Larder itself added to requests to the origin; the union over several requests.
    package internal(set) var sentConditions = RequestConditions()
    /// The status sent to the client; 0 if no status has been sent.
    package var status: UInt16 = 0
    /// The status that the origin sent; 0 if it sent no response.
    package var upstreamStatus: UInt16 = 0
    /// How many times the origin's body was cut off and resumed.
    package var continuations: UInt8 = 0
    /// Whether a rule upgraded the request from http to https.
    package internal(set) var isUpgraded = false
    /// The result of transforming the content; `nil` if no rule requires that, or if there is no content.
    package internal(set) var transform: TransformTrace?
    package var receivedAt = Timestamp(milliseconds: 0)
    /// The faults that validation by rules found, outermost first, if they did not block the response.
    package var findings = ValidationFaults()

    @inline(__always)
    package init() {}

    /// Whether the decision was possible only because of a rule marked as unsafe.
    package var usedUnsafeRule: Bool {
        if case .stored(_, _, usedUnsafe: true) = storage { return true }
        return switch reuse {
        case .fresh(let terms), .staleAllowed(let terms, _): terms.usedUnsafe
        case .validate, .forward, .notSatisfiable, .offlineMiss, nil: false
        }
    }
}
