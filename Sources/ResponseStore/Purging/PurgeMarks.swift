import EventLoop
import HTTPCaching
import HTTPMessage
import Synchronization

/// The purges that hold: those whose deletions are not at their end, and the latest of the others, for fetches that began before them.
///
/// Asked under the locks of the memory tier, whose threads therefore never wait for anybody here. Where no purge came meanwhile, one
/// load of a number is all it costs.
final class PurgeMarks: Sendable {
    private struct Contents {
        /// In their order.
        var marks: [(purge: Purge, isActive: Bool)] = []
        /// Purges up to this number are not known any more: a fetch that began before is taken as covered.
        var forgotten: Int64 = 0
    }

    /// No further purge is taken while so many are being carried out.
    static let activeLimit = 64
    private static let limit = 256

    private let contents = Guarded(Contents())
    private let latestNumber = Atomic<Int64>(0)
    private let activeCount = Atomic<Int>(0)

    /// The latest purge's number. Who begins a fetch notes it, and shows it when there is something to store.
    ///
    /// In one order with the making of rows: who has not seen a purge has a row below its boundary.
    var latest: Int64 { latestNumber.load(ordering: .sequentiallyConsistent) }

    /// Those whose deletions are not at their end.
    var active: [Purge] {
        if activeCount.load(ordering: .acquiring) == 0 { return [] }
        return contents.withLock { $0.marks.filter(\.isActive).map(\.purge) }
    }

    /// - Parameter makeRow: Makes the boundary.
    /// - Returns: `nil` when too many are being carried out.
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

    /// What the process before has left to be done.
    func restore(_ purges: [Purge]) {
        contents.withLock { contents in
            for purge in purges {
                latestNumber.store(purge.number, ordering: .sequentiallyConsistent)
                add(purge, to: &contents)
            }
        }
    }

    /// It covers nothing that is stored any more.
    func retire(_ purge: Purge) {
        contents.withLock { contents in
            guard let index = contents.marks.firstIndex(where: { $0.purge.number == purge.number && $0.isActive }) else { return }
            contents.marks[index].isActive = false
            activeCount.subtract(1, ordering: .releasing)
        }
    }

    /// What the purges leave of a response that is about to stand in memory: `nil` for nothing.
    /// - Parameter since: The number that was the latest when its fetch began.
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

    /// Whether a purge came since that may cover what is fetched for this key.
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
    /// What they leave of a stored response: `nil` for nothing.
    func left(of response: StoredResponse) -> StoredResponse? {
        var left = response
        for purge in self {
            guard let next = purge.left(of: left) else { return nil }
            left = next
        }
        return left
    }

    /// What they leave of a row that a listing has found.
    func left(of entry: StoredEntry, requestTime: Timestamp) -> StoredEntry? {
        var left = entry
        for purge in self where purge.precedes(row: entry.row, requestTime: requestTime) && purge.matches(left) {
            if !purge.isSoft { return nil }
            left.facts = left.facts.madeStale(at: purge.time)
        }
        return left
    }

    /// Whether they leave a row of the file where it is.
    func leave(_ row: ResponseRow) -> Bool {
        guard !isEmpty, let facts = ReuseFacts(decoding: row.facts.span) else { return true }
        return left(of: StoredEntry(row, facts: facts, lastAccess: 0), requestTime: row.requestTime) != nil
    }
}
