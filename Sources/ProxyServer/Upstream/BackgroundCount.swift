import Synchronization

/// How many validations without a client are under way, on all loops.
final class BackgroundCount: Sendable {
    private let count = Atomic<Int>(0)

    /// Counts one more, unless there are so many already.
    func begin(limit: Int) -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).oldValue < limit { return true }
        end()
        return false
    }

    func end() { count.wrappingSubtract(1, ordering: .relaxed) }
}
