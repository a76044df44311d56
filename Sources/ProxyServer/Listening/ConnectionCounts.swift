import Synchronization

/// How many client connections each loop has, so that a new one goes where the fewest are.
final class ConnectionCounts: Sendable {
    private final class Count: Sendable {
        let value = Atomic<Int>(0)
    }

    private let counts: [Count]

    init(loops: Int) { counts = (0..<loops).map { _ in Count() } }

    var loops: Int { counts.count }

    var total: Int { counts.reduce(0) { $0 + $1.value.load(ordering: .relaxed) } }

    /// Counts a new connection to the loop with the fewest.
    /// - Parameter count: how many descriptors it takes.
    func opened(_ count: Int) -> Int {
        var least = 0
        for index in counts.indices.dropFirst()
        where counts[index].value.load(ordering: .relaxed) < counts[least].value.load(ordering: .relaxed) {
            least = index
        }
        counts[least].value.wrappingAdd(count, ordering: .relaxed)
        return least
    }

    func closed(on loop: Int, _ count: Int = 1) { counts[loop].value.wrappingSubtract(count, ordering: .relaxed) }
}
