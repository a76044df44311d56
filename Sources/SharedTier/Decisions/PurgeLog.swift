import HTTPCaching
import HTTPMessage
import ResponseStore

/// The last purges of the farm. An entry of the engine that was fetched before a purge is used only if the purge does not cover it.
struct PurgeLog: Sendable {
    private var purges: [(number: Int64, purge: FarmPurge)] = []
    /// Purges up to this number may be missing here. Entries that were fetched before it are not used.
    private(set) var floor: Int64

    init(floor: Int64) { self.floor = floor }

    mutating func append(_ purge: FarmPurge, number: Int64) {
        purges.append((number, purge))
        if purges.count > Int(FarmStanding.logLength) { floor = max(floor, purges.removeFirst().number) }
    }

    /// Whether a response may be used that was fetched in this generation.
    func leaves(_ response: StoredResponse, fetchedIn generation: Int64, at now: Timestamp) -> Bool {
        if generation < floor { return false }
        return !purges.contains { $0.number > generation && $0.purge.covers(response, at: now) }
    }
}
