import EventLoop
import HTTPMessage
import ResponseStore

/// How a node uses the shared tier.
package struct TierConfiguration: Sendable {
    package enum Write: String, CaseIterable, Sendable {
        case all
        /// A response is stored when it is requested a second time in the farm.
        case secondRequest = "second_request"
        case off
    }

    package var engine: EngineConfiguration
    package var write = Write.all
    /// The maximum length of a body in the tier, in bytes.
    package var maximumBody: UInt64 = 1 << 20
    /// How long a request waits for a response that another node fetches, in milliseconds.
    package var wait = 2000
    /// The name of this node, for people.
    package var node: String
    /// The responses that wait for the engine, in bytes; more are dropped.
    package var queuedBytes = 64 << 20

    package init(engine: EngineConfiguration, node: String) {
        self.engine = engine
        self.node = node
    }
}

/// What the tier needs of the process that it serves. Each call may come from any thread.
package struct TierHooks: Sendable {
    /// Purges the local store. The report gets `inEffect` when the purge would survive a crash.
    package var purge: @Sendable (FarmPurgeRequest, @escaping @Sendable (PurgeProgress) -> Void) -> Bool
    /// Whether stored responses may be used without asking the origin.
    package var setCurrent: @Sendable (Bool) -> Void
    /// The mark that an earlier process has left; `nil` for none.
    package var loadMark: @Sendable () -> FarmMark?
    /// Keeps the mark for the next process.
    package var saveMark: @Sendable (FarmMark) -> Void
    package var warn: @Sendable (String) -> Void
    /// The wall clock, for ages. No lease depends on it.
    package var now: @Sendable () -> Timestamp

    package init(
        purge: @escaping @Sendable (FarmPurgeRequest, @escaping @Sendable (PurgeProgress) -> Void) -> Bool,
        setCurrent: @escaping @Sendable (Bool) -> Void, loadMark: @escaping @Sendable () -> FarmMark?,
        saveMark: @escaping @Sendable (FarmMark) -> Void, warn: @escaping @Sendable (String) -> Void,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.purge = purge
        self.setCurrent = setCurrent
        self.loadMark = loadMark
        self.saveMark = saveMark
        self.warn = warn
        self.now = now
    }
}

/// A purge of the local store that a purge of the farm causes.
package struct FarmPurgeRequest: Sendable {
    package let request: PurgeRequest
    package let isSoft: Bool
}
