import EventLoop
import Snapshots

/// The state of a recording, written by its thread and read by others. The first write error is reported at once.
final class RecordingProgress: Sendable {
    private let state = Guarded(RecordingSummary())
    private let report: @Sendable (String) -> Void

    /// - Parameter report: receives the first write error, on any thread.
    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    var summary: RecordingSummary { state.withLock { $0 } }

    func note(_ change: (inout RecordingSummary) -> Void) { state.withLock { change(&$0) } }

    func noteFailure(_ error: SnapshotError) {
        let isFirst = state.withLock { $0.noteFailure(error) }
        if isFirst { report(error.description) }
    }
}
