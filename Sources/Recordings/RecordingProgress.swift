import EventLoop
import Snapshots

/// How far a recording has come, as its thread notes it and others read it. The first thing that cannot be written is told at once.
final class RecordingProgress: Sendable {
    private let state = Guarded(RecordingSummary())
    private let report: @Sendable (String) -> Void

    /// - Parameter report: hears what cannot be written, once, on some thread.
    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    var summary: RecordingSummary { state.withLock { $0 } }

    func note(_ change: (inout RecordingSummary) -> Void) { state.withLock { change(&$0) } }

    func noteFailure(_ error: SnapshotError) {
        let isFirst = state.withLock { $0.noteFailure(error) }
        if isFirst { report(error.description) }
    }
}
