import EventLoop
import HTTPCaching
import Synchronization

/// The responses that are stored in part: their heads, and which bytes are there. Written by the writer as its transactions are
/// committed, and read by any loop that has found nothing whole.
final class PartialDirectory: Sendable {
    /// More are not kept: the oldest goes.
    static let limit = 1024

    private struct Contents {
        var byKey: [[UInt8]: [PartialResponse]] = [:]
        var keys: [StoredRowID: [UInt8]] = [:]
    }

    private let contents = Guarded(Contents())
    private let number = Atomic<Int>(0)

    /// For the way of every miss: there is usually none.
    var isEmpty: Bool { number.load(ordering: .relaxed) == 0 }

    /// The row of the one that came first, where there are as many as may be.
    var oldestOfFull: StoredRowID? {
        contents.withLock { $0.keys.count < PartialDirectory.limit ? nil : $0.keys.keys.min() }
    }

    func find(_ key: [UInt8]) -> [PartialResponse] { isEmpty ? [] : contents.withLock { $0.byKey[key] ?? [] } }

    /// Puts it in, or in place of what was known of its row.
    func keep(_ partial: PartialResponse) {
        let key = partial.response.key
        let row = partial.response.row
        change { contents in
            contents.byKey[key, default: []].removeAll { $0.response.row == row }
            contents.byKey[key, default: []].append(partial)
            contents.keys[row] = key
        }
    }

    /// A row's response has another head by now.
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

    /// The key is invalidated: nothing of it is used from now on.
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

/// What a committed transaction has made of a response that is stored in part.
enum PartialChange: Sendable {
    case kept(PartialResponse, KeyHash)
    case gone(StoredRowID)
}
