import EventLoop
import HTTPCaching
import Synchronization

/// The partial responses: their heads, and which ranges are stored. The writer updates it as its transactions are committed; any loop
/// may read it if it has found no complete response.
final class PartialDirectory: Sendable {
    /// The maximum number of partial responses; above it, the oldest is removed.
    static let limit = 1024

    private struct Contents {
        var byKey: [[UInt8]: [PartialResponse]] = [:]
        var keys: [StoredRowID: [UInt8]] = [:]
    }

    private let contents = Guarded(Contents())
    private let number = Atomic<Int>(0)

    /// Whether there are no partial responses, as is usual. Checked for every miss.
    var isEmpty: Bool { number.load(ordering: .relaxed) == 0 }

    /// The row of the oldest partial response, if the directory is full.
    var oldestOfFull: StoredRowID? {
        contents.withLock { $0.keys.count < PartialDirectory.limit ? nil : $0.keys.keys.min() }
    }

    func find(_ key: [UInt8]) -> [PartialResponse] { isEmpty ? [] : contents.withLock { $0.byKey[key] ?? [] } }

    /// Adds the partial response, or replaces the entry for its row.
    func keep(_ partial: PartialResponse) {
        let key = partial.response.key
        let row = partial.response.row
        change { contents in
            contents.byKey[key, default: []].removeAll { $0.response.row == row }
            contents.byKey[key, default: []].append(partial)
            contents.keys[row] = key
        }
    }

    /// Replaces the response of a row with its freshened version.
    func freshen(_ response: StoredResponse) {
        if isEmpty { return }
        contents.withLock { contents in
            let found = contents.byKey[response.key]
            guard let found, let index = found.firstIndex(where: { $0.response.row == response.row }) else { return }
            contents.byKey[response.key]?[index] = PartialResponse(response, extents: found[index].extents)
        }
    }

    func remove(row: StoredRowID) {
        if isEmpty { return }
        change { contents in
            guard let key = contents.keys.removeValue(forKey: row) else { return }
            contents.byKey[key]?.removeAll { $0.response.row == row }
            if contents.byKey[key]?.isEmpty ?? false { contents.byKey[key] = nil }
        }
    }

    /// Removes the partial responses of an invalidated key: none of them is used from now on.
    func remove(key: [UInt8]) {
        if isEmpty { return }
        change { contents in
            for partial in contents.byKey.removeValue(forKey: key) ?? [] { contents.keys[partial.response.row] = nil }
        }
    }

    func removeAll() { change { $0 = Contents() } }

    private func change(_ body: (inout Contents) -> Void) {
        contents.withLock { contents in
            body(&contents)
            number.store(contents.keys.count, ordering: .relaxed)
        }
    }
}

/// A committed change to a partial response.
enum PartialChange: Sendable {
    case kept(PartialResponse, KeyHash)
    case gone(StoredRowID)
}
