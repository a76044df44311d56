import HTTPCaching

/// What the cache does when the caller has accepted or refused a response.
enum CacheSettlement: Sendable {
    /// An accepted response is stored.
    case keep(CacheKeeping)
    /// A stored response was served. If it is refused, it is removed, so that the next request is sent to the origin.
    case served(CachedResponse, by: any ResponseCaching)

    /// - Returns: whether the response is stored because of this call.
    func settle(_ arrived: TransferTask.OpenResponse, isAccepted: Bool) async -> Bool {
        switch self {
        case .keep(let keeping): return isAccepted ? await keeping.keep(arrived) : false
        case .served(let response, let cache):
            if !isAccepted { await cache.remove(response) }
            return false
        }
    }
}
