import EventLoop
import ProxyPolicy

/// The counts of rules' limits, for all loops: only requests whose rules have limits use them.
final class SharedLimits: Sendable {
    private let counters = Guarded(LimitCounters())

    /// - Returns: the limit that refuses the request, in which case nothing is counted; `nil` if no limit refuses it.
    func admit(_ demands: [LimitDemand], bytesOut: UInt64, at now: MonotonicTime) -> LimitRefusal? {
        counters.withLock { $0.admit(demands, bytesOut: bytesOut, at: now.microseconds) }
    }

    /// - Returns: the quota that this content would exceed, in which case nothing is counted; `nil` if there is none.
    func take(_ length: UInt64, _ word: RuleLimit.Word, _ demands: [LimitDemand], at now: MonotonicTime) -> LimitRefusal? {
        counters.withLock { $0.take(length, word, demands, at: now.microseconds) }
    }

    /// - Returns: the quota that permits no more content from an origin; `nil` if there is none.
    func refusalOfFetch(_ demands: [LimitDemand], at now: MonotonicTime) -> LimitRefusal? {
        counters.withLock { $0.refusalOfFetch(demands, at: now.microseconds) }
    }

    func keepOnly(rulesOf ruleSet: PolicyRuleSet) { counters.withLock { $0.keepOnly(rulesOf: ruleSet) } }
}

extension MonotonicTime {
    fileprivate var microseconds: UInt64 { UInt64(clamping: nanoseconds / 1000) }
}
