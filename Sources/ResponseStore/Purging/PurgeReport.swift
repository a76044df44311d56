/// What a purge has said of itself, for whoever asks for it in a rhythm of its own.
package final class PurgeReport: Sendable {
    private let said = Monitor<[PurgeProgress]>([])

    package init() {}

    /// Give this to `purge`.
    package func take(_ progress: PurgeProgress) {
        said.withLock { $0.append(progress) }
        said.wake()
    }

    /// The next thing that it says; `nil` when nothing has come in time.
    package func next(waitingAtMost milliseconds: Int? = nil) -> PurgeProgress? {
        said.wait(atMost: milliseconds) { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
