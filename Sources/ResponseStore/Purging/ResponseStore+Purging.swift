import EventLoop
import HTTPCaching
import HTTPMessage

/// A caller's request for a purge.
package enum PurgeRequest: Sendable {
    case matching(StoreFilter)
    /// Purge every variant of these keys.
    case keys([[UInt8]])

    var target: Purge.Target {
        switch self {
        case .keys(let keys): .keys(keys)
        case .matching(let filter): filter.onlyKeys.map { .keys($0) } ?? .filter(filter)
        }
    }
}

extension ResponseStore {
    /// Removes the matching responses, or makes them stale: in memory, on disk, and bodies that are being stored. Matching responses to
    /// requests that were sent before the purge are not stored.
    /// - Parameters:
    ///   - isSoft: make the responses stale instead of removing them.
    ///   - alsoFrom: applies the purge to other caches of the caller. Called before this method returns.
    ///   - report: gets `inEffect`, then `done`; or `interrupted`. Called on the store's threads.
    /// - Returns: `false` if too many purges are active; nothing has happened then.
    @discardableResult
    package func purge(
        _ request: PurgeRequest, isSoft: Bool = false, at now: Timestamp, alsoFrom: (Purge) -> Void = { _ in },
        report: @escaping @Sendable (PurgeProgress) -> Void
    ) -> Bool {
        let published = core.purges.publish(request.target, isSoft: isSoft, at: now) { core.makeRow() }
        guard let purge = published else { return false }
        alsoFrom(purge)
        for pending in core.pendingResponses.all {
            let response = pending.plan.response
            let entry = StoredEntry(response, bodyLength: pending.plan.length)
            // A body of unknown length counts as matching.
            let isMeant = pending.plan.length == nil ? purge.mayCover(key: response.key) : purge.matches(entry)
            if isMeant { pending.stopKeeping() }
        }
        let inMemoryAlone = core.memory.purge(purge)
        core.queue.add(.purge(PurgeWork(purge: purge, inMemoryAlone: inMemoryAlone, report: report)), urgent: true)
        return true
    }
}

/// A purge that is queued for the writer.
struct PurgeWork: Sendable {
    let purge: Purge
    /// The number of purged responses that were in no file.
    let inMemoryAlone: Int
    let report: @Sendable (PurgeProgress) -> Void
}

/// The writer's progress with a purge.
struct PurgeScan {
    let work: PurgeWork
    /// Rows up to this id have been checked.
    var cursor: StoredRowID = 0
    var count = 0
}
