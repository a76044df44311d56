import HTTPCaching
import HTTPMessage

/// One purge: what it removes, or makes stale, of everything that was stored or asked for before it.
///
/// It holds at once, by its mark alone: nobody is given what it covers, wherever that stands or is on its way. Deleting comes behind.
package struct Purge: Sendable {
    enum Target: Sendable {
        case filter(StoreFilter)
        /// Every variant of these keys.
        case keys([[UInt8]])
    }

    /// Counts the purges of this store.
    let number: Int64
    /// Rows below it were made before the purge.
    let boundary: StoredRowID
    /// When it was asked for. Ages and freshness are as of then.
    let time: Timestamp
    let target: Target
    let isSoft: Bool

    /// Whether a response of this key can be covered, as far as the key alone tells.
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

    /// Whether a stored response was there before the purge. One that was validated since is a new answer, though its row is the same.
    func precedes(row: StoredRowID, requestTime: Timestamp) -> Bool {
        row < boundary && (!isSoft || requestTime <= time)
    }

    /// What the purge leaves of a stored response: `nil` for nothing.
    func left(of response: StoredResponse) -> StoredResponse? {
        // The key first: most responses are not meant, and making an entry of one costs more than all else.
        guard precedes(row: response.row, requestTime: response.requestTime), mayCover(key: response.key),
            matches(StoredEntry(response))
        else { return response }
        return isSoft ? response.madeStale(at: time) : nil
    }
}

/// How a purge goes on.
package enum PurgeProgress: Sendable {
    /// From now on nobody is given what it covers, whatever happens to this process.
    case inEffect
    /// All of it is deleted, or marked stale: so many responses.
    case done(count: Int)
    /// The store was closed before the end: what was in effect stays so, and the next process goes on with it.
    case interrupted
}
