import Snapshots

/// The state of a recording.
package struct RecordingSummary: Sendable {
    package struct Counts: Sendable {
        package var recorded = 0
        /// The number of recorded exchanges that failed.
        package var failures = 0
        /// The number of recorded exchanges whose responses shared caches must not store.
        package var unshared = 0
        /// Exchanges that equal their recording, and so were not recorded again.
        package var unchanged = 0
        /// Exchanges that were compared and differ from their recording.
        package var differing = 0

        package init() {}
    }

    package struct Unrecorded: Sendable {
        /// The URL without its query.
        package let url: String
        package let reason: String
    }

    package var counts = Counts()
    /// Hosts to which tunnels were opened, in order of their first tunnel.
    package private(set) var tunnels: [String] = []
    /// The first exchanges that were forwarded but are not in the file.
    package private(set) var unrecorded: [Unrecorded] = []
    package private(set) var unrecordedCount = 0
    /// The first differences that comparisons found, in order.
    package private(set) var differences: [SnapshotDiff.Entry] = []
    /// The first write error: later exchanges may be missing in the file.
    package private(set) var failure: String?

    /// The maximum number of hosts, and of exchanges, in the summary; further exchanges are only counted.
    static let toldLimit = 100
    /// The maximum number of differences in the summary.
    static let toldDifferences = 10_000

    /// Whether all forwarded exchanges are in the file.
    package var isComplete: Bool { unrecordedCount == 0 && failure == nil }

    package mutating func noteTunnel(to host: String) {
        if tunnels.count < Self.toldLimit, !tunnels.contains(host) { tunnels.append(host) }
    }

    package mutating func noteUnrecorded(_ url: String, _ reason: String) {
        unrecordedCount += 1
        if unrecorded.count < Self.toldLimit { unrecorded.append(Unrecorded(url: url, reason: reason)) }
    }

    mutating func noteDifference(_ entry: SnapshotDiff.Entry) {
        if differences.count < Self.toldDifferences { differences.append(entry) }
    }

    /// - Returns: whether this is the first failure.
    mutating func noteFailure(_ error: SnapshotError) -> Bool {
        guard failure == nil else { return false }
        failure = error.description
        return true
    }
}
