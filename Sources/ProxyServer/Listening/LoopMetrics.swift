import HTTPMessage
import Metrics
import ProxyCore
import TLSChannel

/// The metrics of one loop: updated only on the loop, without a lock. A request that is answered without an error allocates nothing.
struct LoopMetrics: ~Copyable {
    private var requests = LabelledCounts()
    /// How long requests took, by outcome.
    private var durations = InlineArray<16, DurationHistogram>(repeating: DurationHistogram())
    private var connecting = DurationHistogram()
    private var firstByte = DurationHistogram()
    private var upstreamRequests: UInt64 = 0
    private var reusedConnections: UInt64 = 0
    private var receivedBytes: UInt64 = 0
    private var replayMisses: UInt64 = 0
    private var clientHandshakes = HandshakeCounts()
    /// The number of errors by code. All codes are constants in the sources, so there are few of them.
    private var errors: [String: UInt64] = [:]
    private var denials: [PolicyDenial: UInt64] = [:]
    /// The maximum number of denials that are counted separately. Reloads may bring more rules than a reader of metrics can use.
    private static let denialLimit = 1000

    mutating func note(_ labels: RequestLabels, microseconds: UInt64, receivedBytes: UInt64) {
        requests.add(labels.packed)
        durations[Int(labels.outcome.rawValue)].note(microseconds: microseconds)
        self.receivedBytes &+= receivedBytes
    }

    mutating func noteUpstream(connectMicroseconds: UInt64, firstByteMicroseconds: UInt64, isConnectionReused: Bool) {
        upstreamRequests &+= 1
        if isConnectionReused { reusedConnections &+= 1 } else { connecting.note(microseconds: connectMicroseconds) }
        firstByte.note(microseconds: firstByteMicroseconds)
    }

    /// Counts a request that only a recording could answer, and that has no recording.
    mutating func noteReplayMiss() { replayMisses &+= 1 }

    /// Counts a TLS handshake with a client, after its success or failure.
    mutating func noteHandshake(_ result: HandshakeCounts.Result) { clientHandshakes.note(result) }

    mutating func noteError(_ code: StaticString) { errors["\(code)", default: 0] &+= 1 }

    mutating func note(_ denial: PolicyDenial) {
        if denials[denial] != nil || denials.count < Self.denialLimit {
            denials[denial, default: 0] &+= 1
        } else {
            denials[PolicyDenial(rule: "", reason: denial.reason, isReportOnly: denial.isReportOnly), default: 0] &+= 1
        }
    }

    func snapshot(with transports: WorkerTransports) -> MetricsSnapshot {
        MetricsSnapshot(
            requests: requests.counts, durations: durations.indices.map { durations[$0] }, connecting: connecting,
            firstByte: firstByte, upstreamRequests: upstreamRequests, reusedConnections: reusedConnections,
            receivedBytes: receivedBytes, replayMisses: replayMisses, clientHandshakes: clientHandshakes,
            originHandshakes: transports.handshakes, pools: transports.pools, errors: errors, denials: denials)
    }
}

/// A request that the rules deny, or would deny in report mode.
package struct PolicyDenial: Hashable, Sendable {
    /// The rule's name; empty if no rule allows the request.
    package let rule: String
    /// The code of the error.
    package let reason: String
    package let isReportOnly: Bool
}

/// The metrics of all loops at one moment.
package struct MetricsSnapshot: Sendable {
    private var requests: [UInt32: UInt64]
    private var durations: [DurationHistogram]
    /// How long it took to open connections to origins.
    package private(set) var connecting: DurationHistogram
    /// The time from the beginning of an exchange with an origin to the response's first byte.
    package private(set) var firstByte: DurationHistogram
    package private(set) var upstreamRequests: UInt64
    package private(set) var reusedConnections: UInt64
    /// The number of bytes of request content.
    package private(set) var receivedBytes: UInt64
    package private(set) var replayMisses: UInt64
    private var clientHandshakes: HandshakeCounts
    private var originHandshakes: HandshakeCounts
    package private(set) var pools: PoolCounts
    /// The number of errors by code.
    package private(set) var errors: [String: UInt64]
    package private(set) var denials: [PolicyDenial: UInt64]

    init(
        requests: [UInt32: UInt64], durations: [DurationHistogram], connecting: DurationHistogram, firstByte: DurationHistogram,
        upstreamRequests: UInt64, reusedConnections: UInt64, receivedBytes: UInt64, replayMisses: UInt64,
        clientHandshakes: HandshakeCounts, originHandshakes: HandshakeCounts, pools: PoolCounts, errors: [String: UInt64],
        denials: [PolicyDenial: UInt64]
    ) {
        self.requests = requests
        self.durations = durations
        self.connecting = connecting
        self.firstByte = firstByte
        self.upstreamRequests = upstreamRequests
        self.reusedConnections = reusedConnections
        self.receivedBytes = receivedBytes
        self.replayMisses = replayMisses
        self.clientHandshakes = clientHandshakes
        self.originHandshakes = originHandshakes
        self.pools = pools
        self.errors = errors
        self.denials = denials
    }

    /// The number of requests by labels; `nil` for those beyond the limit of combinations.
    package var requestCounts: [(labels: RequestLabels?, count: UInt64)] {
        requests.sorted { $0.key < $1.key }.map { (RequestLabels(packed: $0.key), $0.value) }
    }

    /// TLS handshakes with clients and origins, by result.
    package var handshakes: [(side: String, result: String, count: UInt64)] {
        [("client", clientHandshakes), ("origin", originHandshakes)].flatMap { side, counts in
            HandshakeCounts.Result.allCases.map { (side, "\($0)", counts[$0]) }
        }
    }

    package func durations(of outcome: DecisionTrace.Outcome) -> DurationHistogram { durations[Int(outcome.rawValue)] }

    static func += (left: inout MetricsSnapshot, right: MetricsSnapshot) {
        left.requests.merge(right.requests, uniquingKeysWith: &+)
        for index in left.durations.indices { left.durations[index] += right.durations[index] }
        left.connecting += right.connecting
        left.firstByte += right.firstByte
        left.upstreamRequests &+= right.upstreamRequests
        left.reusedConnections &+= right.reusedConnections
        left.receivedBytes &+= right.receivedBytes
        left.replayMisses &+= right.replayMisses
        left.clientHandshakes += right.clientHandshakes
        left.originHandshakes += right.originHandshakes
        left.pools = left.pools + right.pools
        left.errors.merge(right.errors, uniquingKeysWith: &+)
        left.denials.merge(right.denials, uniquingKeysWith: &+)
    }
}
