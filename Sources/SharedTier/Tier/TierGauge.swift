import EventLoop
import Synchronization

/// The counts and the status of the tier, for other threads.
final class TierGauge: Sendable {
    private let counts = Guarded(TierCounts())
    private let status = Guarded(TierStatus())
    /// The responses that wait to be uploaded.
    let queuedBytes = Atomic<Int>(0)
    let queuedCount = Atomic<Int>(0)

    func note(_ outcome: LookUpOutcome) { counts.withLock { $0.note(outcome) } }
    func note(_ outcome: UploadOutcome) { counts.withLock { $0.note(outcome) } }
    func note(_ refusal: EntryRefusal) { counts.withLock { $0.note(refusal) } }
    func change(_ body: (inout TierCounts) -> Void) { counts.withLock { body(&$0) } }

    func publish(_ status: TierStatus) { self.status.withLock { $0 = status } }

    var current: TierStatus {
        var status = status.withLock { $0 }
        status.counts = counts.withLock { $0 }
        status.queuedBytes = queuedBytes.load(ordering: .relaxed)
        status.queuedCount = queuedCount.load(ordering: .relaxed)
        return status
    }
}

extension TierGauge {
    /// Reserves space for a response that waits.
    /// - Returns: `false` if the limit would be passed.
    func reserve(_ count: Int, limit: Int) -> Bool {
        if queuedBytes.add(count, ordering: .relaxed).newValue > limit {
            queuedBytes.subtract(count, ordering: .relaxed)
            return false
        }
        queuedCount.add(1, ordering: .relaxed)
        return true
    }

    func release(_ count: Int) {
        queuedBytes.subtract(count, ordering: .relaxed)
        queuedCount.subtract(1, ordering: .relaxed)
    }
}
