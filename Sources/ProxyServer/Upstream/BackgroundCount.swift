import Synchronization

/// The number of background exchanges in flight on all loops.
final class BackgroundCount: Sendable {
    private let count = Atomic<Int>(0)

    /// Adds one, unless the limit is reached.
    func begin(limit: Int) -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).oldValue < limit { return true }
        end()
        return false
    }

    func end() { count.wrappingSubtract(1, ordering: .relaxed) }
}
