import Synchronization

/// How long somebody waits for a piece of work: asked by the thread that does it, ended by the loop for which it is done, or by the server's end.
package final class WorkPatience: Sendable {
    private let deadline: ContinuousClock.Instant
    private let isGivenUp = Atomic<Bool>(false)

    package init(milliseconds: Int64) { deadline = ContinuousClock.now.advanced(by: .milliseconds(milliseconds)) }

    /// Nobody waits for it any more.
    package func giveUp() { isGivenUp.store(true, ordering: .relaxed) }

    package var isOver: Bool { isGivenUp.load(ordering: .relaxed) || ContinuousClock.now >= deadline }
}
