import Synchronization

/// Whether the result of some work is still needed. The thread that does the work checks this. The loop that requested the work, or the
/// server's end, can cancel it.
package final class WorkPatience: Sendable {
    private let deadline: ContinuousClock.Instant
    private let isGivenUp = Atomic<Bool>(false)

    package init(milliseconds: Int64) { deadline = ContinuousClock.now.advanced(by: .milliseconds(milliseconds)) }

    /// Cancels the work: no caller waits for the result now.
    package func giveUp() { isGivenUp.store(true, ordering: .relaxed) }

    package var isOver: Bool { isGivenUp.load(ordering: .relaxed) || ContinuousClock.now >= deadline }
}
