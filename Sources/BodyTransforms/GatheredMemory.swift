import Synchronization

/// The memory used by bodies that are gathered for one purpose, on all loops together.
package final class GatheredMemory: Sendable {
    private let taken = Atomic<Int>(0)

    package init() {}

    /// One body's share of this memory, which is returned when the share is released. Confined to its loop.
    package final class Share {
        private let memory: GatheredMemory
        private var count = 0

        package init(_ memory: GatheredMemory) { self.memory = memory }

        deinit { memory.taken.subtract(count, ordering: .relaxed) }

        /// Increases the share to a number of bytes. A single body may exceed the limit for all, up to its rule's own limit.
        /// - Returns: `false` if the other bodies leave too little.
        package func grow(to wanted: Int, limit: Int) -> Bool {
            let more = wanted - count
            guard more > 0 else { return true }
            let total = memory.taken.add(more, ordering: .relaxed).newValue
            guard total <= limit || total == wanted else {
                memory.taken.subtract(more, ordering: .relaxed)
                return false
            }
            count = wanted
            return true
        }
    }
}
