/// What attempts have shown of hosts: which answer, and which are not worth an attempt now.
///
/// A value: whoever makes attempts keeps one and reports to it. It asks nothing by itself. A host that has failed so many times in a row is
/// `unreachable` for a pause that doubles with each further failure; then one attempt shows whether it is back.
public struct HostHealth: Sendable {
    /// What is known of one host at one moment.
    public enum Verdict: Equatable, Sendable {
        /// No attempt, none lately, or too few failures to say.
        case unknown
        /// The last attempt reached it.
        case reachable
        /// So many attempts in a row have failed; the next one is worth making at that time.
        case unreachable(failures: Int, retryAt: ContinuousClock.Instant)
    }

    /// The bounds of what is kept, and when a host counts as unreachable.
    public struct Limits: Equatable, Sendable {
        /// Of as many hosts something is known; above it the one that nobody has reported on for the longest is forgotten.
        public var hostCount = 256
        /// A longer name is not kept. In bytes.
        public var nameLength = 255
        /// Failures in a row before the verdict is `unreachable`.
        public var failureCount = 3
        /// After the first failure, until it is tried again.
        public var firstPause = Duration.seconds(1)
        /// However many failures there were.
        public var longestPause = Duration.seconds(60)
        /// For so long a report means something.
        public var memory = Duration.seconds(600)

        /// The usual limits.
        public init() {}
    }

    private struct Record {
        var failures = 0
        var reportedAt: ContinuousClock.Instant
    }

    /// As they were given.
    public let limits: Limits
    private var records: [String: Record] = [:]

    /// Nothing is known of any host.
    public init(limits: Limits = Limits()) {
        precondition(limits.hostCount > 0 && limits.failureCount > 0, "nothing could be known")
        self.limits = limits
    }

    /// How many hosts something is known of.
    public var count: Int { records.count }

    /// The host answered, whatever it said.
    /// - Parameters:
    ///   - host: compared without regard to case.
    ///   - now: when it did.
    public mutating func reportSuccess(of host: String, at now: ContinuousClock.Instant) { report(host, failures: 0, at: now) }

    /// The host could not be reached: no address, no connection, no answer in time.
    public mutating func reportFailure(of host: String, at now: ContinuousClock.Instant) {
        let former = records[host.lowercased()].map { isForgotten($0, at: now) ? 0 : $0.failures } ?? 0
        report(host, failures: min(former + 1, Self.countedFailures), at: now)
    }

    /// What is known of a host at a time.
    public func verdict(on host: String, at now: ContinuousClock.Instant) -> Verdict {
        guard let record = records[host.lowercased()], !isForgotten(record, at: now) else { return .unknown }
        if record.failures == 0 { return .reachable }
        guard record.failures >= limits.failureCount else { return .unknown }
        let retryAt = record.reportedAt.advanced(by: pause(after: record.failures))
        return retryAt > now ? .unreachable(failures: record.failures, retryAt: retryAt) : .unknown
    }

    /// The network is another one: what has failed there may work here.
    public mutating func forgetFailures() { records = records.filter { $0.value.failures == 0 } }

    /// Enough for the longest pause, and far from the end of the number.
    private static let countedFailures = 1000

    private mutating func report(_ host: String, failures: Int, at now: ContinuousClock.Instant) {
        guard host.utf8.count <= limits.nameLength else { return }
        let name = host.lowercased()
        if records[name] == nil, records.count >= limits.hostCount { forgetOldest() }
        records[name] = Record(failures: failures, reportedAt: now)
    }

    private mutating func forgetOldest() {
        guard let oldest = records.min(by: { $0.value.reportedAt < $1.value.reportedAt }) else { return }
        records[oldest.key] = nil
    }

    private func isForgotten(_ record: Record, at now: ContinuousClock.Instant) -> Bool {
        record.reportedAt.duration(to: now) > limits.memory
    }

    private func pause(after failures: Int) -> Duration {
        // 2^32 seconds are longer than any pause.
        let doublings = min(failures - limits.failureCount, 32)
        return min(limits.firstPause * (1 << doublings), limits.longestPause)
    }
}
