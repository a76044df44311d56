import Synchronization

/// The number of client connections on each loop, so that a new connection goes to the loop with the fewest.
final class ConnectionCounts: Sendable {
    private final class Count: Sendable {
        let value = Atomic<Int>(0)
    }

    private let counts: [Count]

    init(loops: Int) { counts = (0..<loops).map { _ in Count() } }

    var loops: Int { counts.count }

    var total: Int { counts.reduce(0) { $0 + $1.value.load(ordering: .relaxed) } }

    /// Counts a new connection to the loop with the fewest.
    func opened() -> Int {
        var least = 0
        for index in counts.indices.dropFirst()
        where counts[index].value.load(ordering: .relaxed) < counts[least].value.load(ordering: .relaxed) {
            least = index
        }
        counts[least].value.wrappingAdd(1, ordering: .relaxed)
        return least
    }

    /// Counts a connection that must be on the given loop.
    func opened(on loop: Int) { counts[loop].value.wrappingAdd(1, ordering: .relaxed) }

    func closed(on loop: Int) { counts[loop].value.wrappingSubtract(1, ordering: .relaxed) }
}
