import HTTPMessage
import ResponseStore

extension ProxyServer {
    /// Removes what is meant from the store and from what is under way, or makes it stale: from the moment at which `report` hears
    /// that it is in effect, no request that comes is answered with it, on whatever loop.
    /// - Returns: `false` when too many purges are being carried out: nothing has happened then.
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
