import EventLoop
import HTTPCaching
import HTTPMessage
import Synchronization

/// The active purges, whose deletions are not complete, and the latest completed purges, which concern fetches that began before
/// them.
///
/// Used under the locks of the memory tier, so its own lock is only held briefly. If no purge happened meanwhile, a check costs one
/// load of a number.
final class PurgeMarks: Sendable {
    private struct Contents {
        /// The purges, in the order of their numbers.
        var marks: [(purge: Purge, isActive: Bool)] = []
        /// Purges up to this number are forgotten: a fetch that began before them counts as covered.
        var forgotten: Int64 = 0
    }

    /// The maximum number of active purges; further ones are rejected.
    static let activeLimit = 64
    private static let limit = 256

    private let contents = Guarded(Contents())
    private let latestNumber = Atomic<Int64>(0)
    private let activeCount = Atomic<Int>(0)

    /// The number of the latest purge. A fetch records it when it begins, and passes it when it stores a response.
    ///
    /// Sequentially consistent with the creation of rows: a fetch that has not seen a purge gets a row below its boundary.
    var latest: Int64 { latestNumber.load(ordering: .sequentiallyConsistent) }

    /// The purges whose deletions are not complete.
    var active: [Purge] {
        if activeCount.load(ordering: .acquiring) == 0 { return [] }
        return contents.withLock { $0.marks.filter(\.isActive).map(\.purge) }
    }

    /// - Parameter makeRow: returns a new row id, which becomes the purge's boundary.
    /// - Returns: `nil` if too many purges are active.
    func publish(_ target: Purge.Target, isSoft: Bool, at time: Timestamp, makeRow: () -> StoredRowID) -> Purge? {
        contents.withLock { contents in
            guard activeCount.load(ordering: .relaxed) < PurgeMarks.activeLimit else { return nil }
            let number = latestNumber.load(ordering: .relaxed) + 1
            latestNumber.store(number, ordering: .sequentiallyConsistent)
            let purge = Purge(number: number, boundary: makeRow(), time: time, target: target, isSoft: isSoft)
            add(purge, to: &contents)
            return purge
        }
    }

    /// Restores the purges that the previous process did not complete.
    func restore(_ purges: [Purge]) {
        contents.withLock { contents in
            for purge in purges {
                latestNumber.store(purge.number, ordering: .sequentiallyConsistent)
                add(purge, to: &contents)
            }
        }
    }

    /// Notes that the deletions of the purge are complete.
    func retire(_ purge: Purge) {
        contents.withLock { contents in
            guard let index = contents.marks.firstIndex(where: { $0.purge.number == purge.number && $0.isActive }) else { return }
            contents.marks[index].isActive = false
            activeCount.subtract(1, ordering: .releasing)
        }
    }

    /// Applies the purges to a response that is about to be kept in memory. Returns the response, made stale by a soft
    /// purge, or `nil` if a purge removes it.
    /// - Parameter since: the number of the latest purge when its fetch began.
    func left(of response: StoredResponse, since: Int64) -> StoredResponse? {
        guard latest != since || activeCount.load(ordering: .acquiring) > 0 else { return response }
        let (marks, forgotten) = contents.withLock { ($0.marks, $0.forgotten) }
        if since < forgotten { return nil }
        var left = response
        let entry = StoredEntry(response)
        for (purge, isActive) in marks {
            let isMeant =
                purge.number > since || (isActive && purge.precedes(row: response.row, requestTime: response.requestTime))
            guard isMeant, purge.matches(entry) else { continue }
            if !purge.isSoft { return nil }
            left = left.madeStale(at: purge.time)
        }
        return left
    }

    /// Whether a purge with a number above `since` may cover a response that is fetched for this key.
    func mayCover(key: [UInt8], since: Int64) -> Bool {
        guard latest != since else { return false }
        return contents.withLock { contents in
            since < contents.forgotten
                || contents.marks.contains { $0.purge.number > since && $0.purge.mayCover(key: key) }
        }
    }

    private func add(_ purge: Purge, to contents: inout Contents) {
        contents.marks.append((purge, true))
        activeCount.add(1, ordering: .releasing)
        while contents.marks.count > PurgeMarks.limit, let index = contents.marks.firstIndex(where: { !$0.isActive }) {
            contents.forgotten = max(contents.forgotten, contents.marks.remove(at: index).purge.number)
        }
    }
}

extension [Purge] {
    /// Applies these purges to a stored response. Returns the response, made stale by a soft purge, or `nil` if a purge removes it.
    func left(of response: StoredResponse) -> StoredResponse? {
        var left = response
        for purge in self {
            guard let next = purge.left(of: left) else { return nil }
            left = next
        }
        return left
    }

    /// Applies these purges to a row of a listing. Returns the row, made stale by a soft purge, or `nil` if a purge removes it.
    func left(of entry: StoredEntry, requestTime: Timestamp) -> StoredEntry? {
        var left = entry
        for purge in self where purge.precedes(row: entry.row, requestTime: requestTime) && purge.matches(left) {
            if !purge.isSoft { return nil }
            left.facts = left.facts.madeStale(at: purge.time)
        }
        return left
    }

    /// Whether the purges leave a row of the file in place.
    func leave(_ row: ResponseRow) -> Bool {
        guard !isEmpty, let facts = ReuseFacts(decoding: row.facts.span) else { return true }
        return left(of: StoredEntry(row, facts: facts, lastAccess: 0), requestTime: row.requestTime) != nil
    }
}
