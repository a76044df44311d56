import EventLoop
import Reachability

/// Watches the network while the mode is `auto`. Any thread may begin and end it; it reports changes on its own thread.
final class NetworkFollower: Sendable {
    private struct State {
        var monitor: ReachabilityMonitor?
        var hasEnded = false
    }

    private let state = Guarded(State())

    /// The current status; `nil` if the network is not watched.
    var status: ReachabilityStatus? { state.withLock { $0.monitor }?.status }

    /// Begins to watch, unless it already does.
    /// - Parameter tell: Called with each status in order, on the monitor's thread. The function must not call `end`.
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

    /// Stops watching. There are no reports after it returns.
    func end() {
        let monitor = state.withLock { state in
            let monitor = state.monitor
            state.monitor = nil
            return monitor
        }
        monitor?.stop()
    }

    /// Stops watching permanently.
    func close() {
        state.withLock { $0.hasEnded = true }
        end()
    }

    func force(_ status: ReachabilityStatus?) { state.withLock { $0.monitor }?.force(status) }
}
