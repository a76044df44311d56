import EventLoop

/// A connection attempt that waits until other name lookups have ended. Confined to its loop.
final class QueuedAttempt: ConnectAttempt {
    let target: ConnectTarget
    let deadline: MonotonicTime
    /// The observer of the attempt; `nil` once the attempt has begun or ended.
    private(set) var observer: (any ConnectObserver)?
    private var begun: (any ConnectAttempt)?
    private weak var connector: Connector?

    init(_ connector: Connector, _ target: ConnectTarget, deadline: MonotonicTime, observer: any ConnectObserver) {
        self.connector = connector
        self.target = target
        self.deadline = deadline
        self.observer = observer
    }

    func cancel() {
        if observer != nil {
            observer = nil
            connector?.noteCancelled()
        }
        begun?.cancel()
        begun = nil
    }

    /// - Parameter begin: begins the attempt for its observer.
    func begin(_ begin: (any ConnectObserver) -> any ConnectAttempt) {
        guard let observer else { return }
        self.observer = nil
        begun = begin(observer)
    }

    func fail(_ error: TransportError) {
        let observer = observer
        self.observer = nil
        observer?.didFailToConnect(error)
    }
}
