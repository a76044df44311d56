import Synchronization

/// How long a piece of work is still wanted: checked by the thread that does it, ended by its loop or by the server's end.
package final class WorkPatience: Sendable {
    private let deadline: ContinuousClock.Instant
    private let isGivenUp = Atomic<Bool>(false)

    package init(milliseconds: Int64) { deadline = ContinuousClock.now.advanced(by: .milliseconds(milliseconds)) }

    /// No caller waits for the result now.
    package func giveUp() { isGivenUp.store(true, ordering: .relaxed) }

    package var isOver: Bool { isGivenUp.load(ordering: .relaxed) || ContinuousClock.now >= deadline }
}
