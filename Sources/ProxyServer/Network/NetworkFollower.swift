import EventLoop
import Reachability

/// Hears of the network for as long as the mode is `auto`. Any thread may begin and end it; what it hears it tells on a thread of its own.
final class NetworkFollower: Sendable {
    private struct State {
        var monitor: ReachabilityMonitor?
        var hasEnded = false
    }

    private let state = Guarded(State())

    /// What is heard now; `nil` where nobody listens.
    var status: ReachabilityStatus? { state.withLock { $0.monitor }?.status }

    /// Listens from now on, if it did not before.
    /// - Parameter tell: Called with each status in order, on the monitor's thread. It may not call `end`.
    func begin(_ tell: @escaping @Sendable (ReachabilityStatus) -> Void) throws(ReachabilityError) {
        if state.withLock({ $0.monitor != nil || $0.hasEnded }) { return }
        let monitor = try ReachabilityMonitor(onChange: tell)
        let isKept = state.withLock { state in
            if state.monitor != nil || state.hasEnded { return false }
            state.monitor = monitor
            return true
        }
        if !isKept { monitor.stop() }
    }

    /// Listens no longer. Nothing is told after it.
    func end() {
        let monitor = state.withLock { state in
            let monitor = state.monitor
            state.monitor = nil
            return monitor
        }
        monitor?.stop()
    }

    /// The same, for good.
    func close() {
        state.withLock { $0.hasEnded = true }
        end()
    }

    func force(_ status: ReachabilityStatus?) { state.withLock { $0.monitor }?.force(status) }
}
