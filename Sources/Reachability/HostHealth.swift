/// Tracks from reported attempts which hosts could be reached, and which hosts should not be tried now.
///
/// The code that makes the attempts stores this value and reports their results to it; this type sends no requests. After
/// enough failures in a row a host is `unreachable` for a pause, which doubles with each further failure. The first attempt
/// after the pause shows whether the host can be reached again.
public struct HostHealth: Sendable {
    /// The state of one host at one time.
    public enum Verdict: Equatable, Sendable {
        /// No recent attempt was reported, too few attempts have failed, or the pause is over.
        case unknown
        /// The last attempt succeeded.
        case reachable
        /// The last `failures` attempts have failed; the next attempt should be made at `retryAt`.
        case unreachable(failures: Int, retryAt: ContinuousClock.Instant)
    }

    /// Limits on memory, and when a host is treated as unreachable.
    public struct Limits: Equatable, Sendable {
        /// How many hosts are tracked; above that, the host with the oldest report is removed.
        public var hostCount = 256
        /// The longest host name that is tracked, in bytes.
        public var nameLength = 255
        /// Failures in a row before the verdict is `unreachable`.
        public var failureCount = 3
        /// The pause when the verdict first becomes `unreachable`.
        public var firstPause = Duration.seconds(1)
        /// The longest pause, after any number of failures.
        public var longestPause = Duration.seconds(60)
        /// How long a report counts; older reports are ignored.
        public var memory = Duration.seconds(600)

        /// The default limits.
        public init() {}
    }

    private struct Record {
        var failures = 0
        var reportedAt: ContinuousClock.Instant
    }

    /// The limits passed to `init`.
    public let limits: Limits
    private var records: [String: Record] = [:]

    /// Creates a value that tracks no host yet.
    public init(limits: Limits = Limits()) {
        precondition(limits.hostCount > 0 && limits.failureCount > 0, "nothing could be known")
        self.limits = limits
    }

    /// How many hosts are tracked.
    public var count: Int { records.count }

    /// Reports that the host responded, with any result.
    /// - Parameters:
    ///   - host: compared without regard to case.
    ///   - now: the time of the response.
    public mutating func reportSuccess(of host: String, at now: ContinuousClock.Instant) { report(host, failures: 0, at: now) }

    /// Reports that the host could not be reached: no address, no connection, or no response in time.
    public mutating func reportFailure(of host: String, at now: ContinuousClock.Instant) {
        let former = records[host.lowercased()].map { isForgotten($0, at: now) ? 0 : $0.failures } ?? 0
        report(host, failures: min(former + 1, Self.countedFailures), at: now)
    }

    /// The state of a host at a time.
    public func verdict(on host: String, at now: ContinuousClock.Instant) -> Verdict {
        guard let record = records[host.lowercased()], !isForgotten(record, at: now) else { return .unknown }
        if record.failures == 0 { return .reachable }
        guard record.failures >= limits.failureCount else { return .unknown }
        let retryAt = record.reportedAt.advanced(by: pause(after: record.failures))
        return retryAt > now ? .unreachable(failures: record.failures, retryAt: retryAt) : .unknown
    }

    /// Forgets all failures. Call this when the machine's network has changed: hosts that could not be reached before may be reachable now.
    public mutating func forgetFailures() { records = records.filter { $0.value.failures == 0 } }

    /// Failures in a row are counted up to this number: enough for the longest pause, and far from overflow.
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
        // At most 32 doublings, so that the product cannot overflow. After 32 doublings, a pause of 1 s would be 2^32 s, which is above
        // every limit.
        let doublings = min(failures - limits.failureCount, 32)
        return min(limits.firstPause * (1 << doublings), limits.longestPause)
    }
}
