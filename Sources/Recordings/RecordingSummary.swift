import Snapshots

/// What has become of what was to be recorded.
package struct RecordingSummary: Sendable {
    package struct Counts: Sendable {
        package var recorded = 0
        /// Of these, exchanges that failed.
        package var failures = 0
        /// Of these, responses that no shared cache may keep.
        package var unshared = 0
        /// Exchanges that were recorded before as they are now, and so not again.
        package var unchanged = 0
        /// Exchanges that were compared, and are not what was recorded.
        package var differing = 0

        package init() {}
    }

    package struct Unrecorded: Sendable {
        /// Without a query.
        package let url: String
        package let reason: String
    }

    package var counts = Counts()
    /// Hosts to which tunnels were opened, in the order of the first.
    package private(set) var tunnels: [String] = []
    /// The first exchanges that went out and are not in the file.
    package private(set) var unrecorded: [Unrecorded] = []
    package private(set) var unrecordedCount = 0
    /// In what those differ that were compared, in the order in which they came; the first of them.
    package private(set) var differences: [SnapshotDiff.Entry] = []
    /// The first thing that could not be written: from there on the file may lack exchanges.
    package private(set) var failure: String?

    /// Hosts, and exchanges, that are told; further ones are counted alone.
    static let toldLimit = 100
    /// Differences that are told.
    static let toldDifferences = 10_000

    /// All that went out is in the file.
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

    /// - Returns: whether it is the first.
    mutating func noteFailure(_ error: SnapshotError) -> Bool {
        guard failure == nil else { return false }
        failure = error.description
        return true
    }
}
