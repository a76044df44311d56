import Synchronization

/// The number of background exchanges in flight on all loops.
package final class BackgroundCount: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    /// Adds one, unless the limit is reached.
    package func begin(limit: Int) -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).oldValue < limit { return true }
        end()
        return false
    }

    package func end() { count.wrappingSubtract(1, ordering: .relaxed) }
}
