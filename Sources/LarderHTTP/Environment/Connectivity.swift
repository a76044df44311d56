import EventLoop
public import Reachability

/// How a session waits for a network instead of failing requests.
public struct ConnectivityWait: Sendable {
    /// How long a request waits; then it fails with `offline`.
    public var limit: Duration
    let status: @Sendable () -> ReachabilityStatus
    let statuses: @Sendable () -> AsyncStream<ReachabilityStatus>

    /// Requests wait while the monitor reports that this machine is offline. If the monitor is stopped, they no longer wait.
    public init(_ monitor: ReachabilityMonitor, atMost limit: Duration = .seconds(60)) {
        self.limit = limit
        status = { monitor.status }
        statuses = { monitor.statuses() }
    }
}

extension HTTPSession {
    /// Whether the session sends no requests. A cache then serves stored responses of any age, and every other request fails at once
    /// with `offline`. Exchanges in flight continue.
    public var isOffline: Bool {
        get { offlineSwitch.load(ordering: .relaxed) }
        set { offlineSwitch.store(newValue, ordering: .relaxed) }
    }

    /// Returns when the session may send a request.
    /// - Throws: `offline` and `cancelled`.
    nonisolated(nonsending) func waitForNetwork(_ transfer: Transfer) async throws(SessionError) {
        if isOffline { throw SessionError(.offline, "the session is offline") }
        guard let wait = configuration.connectivity, wait.status().isOffline else { return }
        let wakeup = Wakeup<ConnectivityOutcome>()
        let watching = Task {
            for await status in wait.statuses() where !status.isOffline { break }
            wakeup.send(.online)
        }
        let callOff = after(wait.limit) { wakeup.send(.timedOut) }
        let outcome = await transfer.awaiting(wakeup, ifCancelled: .cancelled)
        watching.cancel()
        callOff()
        switch outcome {
        case .online: if isOffline { throw SessionError(.offline, "the session is offline") }
        case .timedOut: throw SessionError(.offline, "there was no network for \(wait.limit)")
        case .cancelled: throw SessionError(.cancelled)
        }
    }

    /// Calls `body` after this time, in the time of the session's network.
    /// - Returns: a closure that cancels the call.
    private func after(_ duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard let network = configuration.network else { return loops.after(milliseconds: duration.inMilliseconds, body) }
        let sleeping = Task { if await network.sleep(for: duration) { body() } }
        return { sleeping.cancel() }
    }
}

private enum ConnectivityOutcome: Sendable { case online, timedOut, cancelled }
