import Synchronization

/// Counts events on an origin's threads.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Adds one and returns the new count: 1, 2, 3, …
    @discardableResult
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
