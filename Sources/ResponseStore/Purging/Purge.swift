import HTTPCaching
import HTTPMessage

/// A purge: removes responses that were stored or requested before it, or makes them stale.
///
/// It takes effect at once through its mark: a response that it covers is no longer used, wherever it is stored or being stored. Its
/// rows are deleted later.
package struct Purge: Sendable {
    enum Target: Sendable {
        case filter(StoreFilter)
        /// The purge covers every variant of these keys.
        case keys([[UInt8]])
    }

    /// The number of this purge in the store.
    let number: Int64
    /// Rows below this id were created before the purge.
    let boundary: StoredRowID
    /// When the purge was requested: ages and freshness are computed for that time.
    let time: Timestamp
    let target: Target
    let isSoft: Bool

    /// Whether a response with this key may be covered, judging by the key alone.
    package func mayCover(key: [UInt8]) -> Bool {
        switch target {
        case .filter(let filter): filter.mayMatch(key: key)
        case .keys(let keys): keys.contains(key)
        }
    }

    func matches(_ entry: borrowing StoredEntry) -> Bool {
        switch target {
        case .filter(let filter): filter.matches(entry, at: time)
        case .keys(let keys): keys.contains(entry.key)
        }
    }

    /// Whether a response was stored before the purge. For a soft purge, a response that was validated since then is new, though its
    /// row is the same.
    func precedes(row: StoredRowID, requestTime: Timestamp) -> Bool {
        row < boundary && (!isSoft || requestTime <= time)
    }

    /// The response after the purge: unchanged if the purge does not cover it, made stale by a soft purge, or `nil` if it is removed.
    func left(of response: StoredResponse) -> StoredResponse? {
        // Checks the key first: most responses do not match, and creating an entry costs more than everything else.
        guard precedes(row: response.row, requestTime: response.requestTime), mayCover(key: response.key),
            matches(StoredEntry(response))
        else { return response }
        return isSoft ? response.madeStale(at: time) : nil
    }
}

/// The progress of a purge.
package enum PurgeProgress: Sendable {
    /// From now on no client gets a response that the purge covers, even if the process crashes.
    case inEffect
    /// All covered responses are deleted or marked stale; `count` is their number.
    case done(count: Int)
    /// The store was closed before the end. The purge stays in effect, and the next process continues it.
    case interrupted
}
