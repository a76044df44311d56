import EventLoop
import HTTPCaching
import HTTPMessage

/// What a caller asks to be purged.
package enum PurgeRequest: Sendable {
    case matching(StoreFilter)
    /// Every variant of these keys.
    case keys([[UInt8]])

    var target: Purge.Target {
        switch self {
        case .keys(let keys): .keys(keys)
        case .matching(let filter): filter.onlyKeys.map { .keys($0) } ?? .filter(filter)
        }
    }
}

extension ResponseStore {
    /// Removes what is meant, or makes it stale: in memory, on the disk, in bodies on their way, in what was asked for before.
    /// - Parameters:
    ///   - isSoft: It stays, and is stale from now on.
    ///   - alsoFrom: Takes it out of what the caller keeps beside the store. Called before this returns.
    ///   - report: Hears `inEffect`, then `done`; or `interrupted`. Called on the store's threads.
    /// - Returns: `false` when too many purges are being carried out: nothing has happened then.
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
            // A body whose length nobody knows yet is taken for one that is meant.
            let isMeant = pending.plan.length == nil ? purge.mayCover(key: response.key) : purge.matches(entry)
            if isMeant { pending.stopKeeping() }
        }
        let inMemoryAlone = core.memory.purge(purge)
        core.queue.add(.purge(PurgeWork(purge: purge, inMemoryAlone: inMemoryAlone, report: report)), urgent: true)
        return true
    }
}

/// A purge on its way to the writer.
struct PurgeWork: Sendable {
    let purge: Purge
    /// How many of the purged responses no file had.
    let inMemoryAlone: Int
    let report: @Sendable (PurgeProgress) -> Void
}

/// How far the writer has come with one.
struct PurgeScan {
    let work: PurgeWork
    /// Rows up to this one have been looked at.
    var cursor: StoredRowID = 0
    var count = 0
}
