import HTTPMessage
import ResponseStore
import SharedFetches

extension ProxyServer {
    /// Purges matching responses from the store and from fetches in flight, or makes them stale. Once `report` is called with the result
    /// that the purge is in effect, the purge applies to all later requests on all loops.
    /// - Returns: `false` if too many purges are in progress, in which case nothing is purged.
    package func purge(
        _ request: PurgeRequest, isSoft: Bool, at now: Timestamp, report: @escaping @Sendable (PurgeProgress) -> Void
    ) -> Bool {
        shared.purge(request, isSoft: isSoft, at: now, report: report)
    }
}

extension ServerShared {
    func purge(
        _ request: PurgeRequest, isSoft: Bool, at now: Timestamp, report: @escaping @Sendable (PurgeProgress) -> Void
    ) -> Bool {
        store.purge(request, isSoft: isSoft, at: now, alsoFrom: { fetches.purge($0) }, report: report)
    }
}
