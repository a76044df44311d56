import Synchronization

/// What bodies that are gathered for one purpose take in memory, on all loops together.
final class GatheredMemory: Sendable {
    private let taken = Atomic<Int>(0)

    /// One body's part of it; given back when it is let go. Confined to its loop.
    final class Share {
        private let memory: GatheredMemory
        private var count = 0

        init(_ memory: GatheredMemory) { self.memory = memory }

        deinit { memory.taken.subtract(count, ordering: .relaxed) }

        /// Takes what is missing to so many bytes. One body alone may be longer than the limit for all, up to its rule's own.
        /// - Returns: `false` where the others have left too little.
        func grow(to wanted: Int, limit: Int) -> Bool {
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
