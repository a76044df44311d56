import Synchronization

/// How long a piece of work is still wanted: checked by the thread that does it, ended by its loop or by the server's end.
final class WorkPatience: Sendable {
    private let deadline: ContinuousClock.Instant
    private let isGivenUp = Atomic<Bool>(false)

    init(milliseconds: Int64) { deadline = ContinuousClock.now.advanced(by: .milliseconds(milliseconds)) }

    /// The result is not wanted any more.
    func giveUp() { isGivenUp.store(true, ordering: .relaxed) }

    var isOver: Bool { isGivenUp.load(ordering: .relaxed) || ContinuousClock.now >= deadline }
}
