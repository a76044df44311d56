/// Collects the progress of a purge for a caller that waits for it on another thread.
package final class PurgeReport: Sendable {
    private let said = Monitor<[PurgeProgress]>([])

    package init() {}

    /// Pass this to `purge`.
    package func take(_ progress: PurgeProgress) {
        said.withLock { $0.append(progress) }
        said.wake()
    }

    /// The next progress; `nil` if none is reported within this time.
    package func next(waitingAtMost milliseconds: Int? = nil) -> PurgeProgress? {
        said.wait(atMost: milliseconds) { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
