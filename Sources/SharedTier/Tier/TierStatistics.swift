import EventLoop

/// The outcome of a look-up. The words are public interface: metrics and the status contain them.
package enum LookUpOutcome: String, CaseIterable, Sendable {
    /// A response was found, fresh or stale.
    case hit
    /// Nothing is stored.
    case miss
    /// Another node fetched the response while the request waited.
    case waited
    /// Another node fetches the response, and took too long.
    case waitEnded = "wait_ended"
    /// Something is stored that may not be used.
    case refused
    case timeout
    /// There is no connection, or the breaker is open.
    case unavailable
    /// The engine answered with an error.
    case failed
}

/// The outcome of an upload.
package enum UploadOutcome: String, CaseIterable, Sendable {
    case stored
    /// The queue was full.
    case dropped
    /// The response may not be shared, or its body is too long.
    case unshared
    /// Another node has fetched the key later, or invalidated it.
    case overtaken
    /// The engine has no space.
    case full
    case failed
}

/// The counts of the tier since the start.
package struct TierCounts: Equatable, Sendable {
    package var lookUps: [LookUpOutcome: UInt64] = [:]
    package var uploads: [UploadOutcome: UInt64] = [:]
    /// Entries that were not used, by the reason.
    package var refusals: [String: UInt64] = [:]
    package var uploadedBytes: UInt64 = 0
    package var downloadedBytes: UInt64 = 0
    package var purges: UInt64 = 0
    package var invalidations: UInt64 = 0

    mutating func note(_ outcome: LookUpOutcome) { lookUps[outcome, default: 0] += 1 }
    mutating func note(_ outcome: UploadOutcome) { uploads[outcome, default: 0] += 1 }
    mutating func note(_ refusal: EntryRefusal) { refusals[refusal.word, default: 0] += 1 }
}

/// The state of the tier, for people and metrics.
package struct TierStatus: Sendable {
    package var url = ""
    package var isCluster = false
    package var engines: [EngineNodeStatus] = []
    package var farm = ""
    package var node = ""
    /// Whether the node has a lease and has applied all purges.
    package var isCurrent = false
    package var generation: Int64?
    package var queuedCount = 0
    package var queuedBytes = 0
    package var counts = TierCounts()
}

/// One node of the farm, by its lease.
package struct FarmNode: Equatable, Sendable {
    package let identity: String
    package let name: String
    package let mark: FarmMark
    /// Whether its lease has not ended, by the engine's clock.
    package let isLive: Bool
    /// The milliseconds until the lease ends; negative afterwards.
    package let remaining: Int64
}
