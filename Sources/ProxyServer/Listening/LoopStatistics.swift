import ProxyCore

/// Counters of one loop: updated only on the loop, without a lock, and queried by message. A trivial type.
package struct LoopStatistics: Sendable {
    private var counts = InlineArray<16, UInt64>(repeating: 0)
    /// Bytes of content sent to clients.
    package private(set) var sentBytes: UInt64 = 0
    /// The bytes of content sent to clients that were not fetched from an origin for the request.
    package private(set) var savedBytes: UInt64 = 0
    /// The numbers of requests for which a rule required a transform: with a transformed response, with an unchanged response, and with a
    /// failed transform.
    package private(set) var transformed: UInt64 = 0
    package private(set) var untransformed: UInt64 = 0
    package private(set) var failedTransforms: UInt64 = 0
    /// Open client connections, including those that became tunnels.
    package var connections = 0
    package var tunnels = 0
    /// The number of times that the loop has woken up.
    package var turns: UInt64 = 0

    package init() {}

    package func count(of outcome: DecisionTrace.Outcome) -> UInt64 { counts[Int(outcome.rawValue)] }

    package var requests: UInt64 {
        var sum: UInt64 = 0
        for index in counts.indices { sum += counts[index] }
        return sum
    }

    /// Requests answered from the store, or from another request's fetch.
    package var hits: UInt64 { DecisionTrace.Outcome.allCases.reduce(0) { $0 + ($1.isAnsweredFromStore ? count(of: $1) : 0) } }

    mutating func note(_ outcome: DecisionTrace.Outcome, sentBytes: UInt64) {
        counts[Int(outcome.rawValue)] &+= 1
        self.sentBytes &+= sentBytes
        if outcome.isAnsweredFromStore { savedBytes &+= sentBytes }
    }

    mutating func note(_ transform: TransformTrace) {
        switch transform {
        case .made: transformed &+= 1
        case .skipped: untransformed &+= 1
        case .failed: failedTransforms &+= 1
        }
    }

    static func + (left: LoopStatistics, right: LoopStatistics) -> LoopStatistics {
        var sum = left
        for index in sum.counts.indices { sum.counts[index] &+= right.counts[index] }
        sum.sentBytes &+= right.sentBytes
        sum.savedBytes &+= right.savedBytes
        sum.transformed &+= right.transformed
        sum.untransformed &+= right.untransformed
        sum.failedTransforms &+= right.failedTransforms
        sum.connections += right.connections
        sum.tunnels += right.tunnels
        sum.turns &+= right.turns
        return sum
    }
}

extension DecisionTrace.Outcome {
    /// Whether `larder status`, `larder top` and the summary of a run count the request as a hit: the response's content did not come from
    /// the origin for this request. A response that the origin confirmed with 304 is one of them.
    package var isAnsweredFromStore: Bool {
        switch self {
        case .hit, .staleHit, .revalidated, .collapsed, .replayed: true
        case .none, .miss, .refreshed, .bypass, .denied, .tunnel, .local, .failed, .background, .recorded: false
        }
    }
}
