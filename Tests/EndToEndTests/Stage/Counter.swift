import Synchronization

/// Counts what an origin's threads do.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// 1, 2, 3, …
    @discardableResult
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
