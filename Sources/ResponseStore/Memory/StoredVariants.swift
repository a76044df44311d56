import HTTPCaching
import HTTPMessage
import Synchronization

/// The stored responses of one key, newest first. Immutable; a change makes a new one.
package final class StoredVariants: Sendable {
    package let key: [UInt8]
    package let responses: [StoredResponse]
    /// Whether these are all: a variant that is missing here is then certainly not stored. Else the disk may have it.
    package let isComplete: Bool

    /// What they cost in memory.
    let byteCount: Int
    /// When they were last found: seconds since the store was opened, doubled, plus one once they were found at all.
    let accessStamp: Atomic<UInt32>
    /// The second up to which the file knows of their use.
    let recordedAccess: Atomic<UInt32>

    init(key: [UInt8], responses: [StoredResponse], isComplete: Bool, now: UInt32, recordedAccess: UInt32) {
        self.key = key
        self.responses = responses
        self.isComplete = isComplete
        byteCount = responses.reduce(key.count + 256) { $0 + MemoryCost.of($1) }
        accessStamp = Atomic(now << 1)
        self.recordedAccess = Atomic(recordedAccess)
    }

    func noteAccess(now: UInt32) {
        let stamp = now << 1 | 1
        // Unchanged within a second: the cache line is then only read.
        if accessStamp.load(ordering: .relaxed) != stamp { accessStamp.store(stamp, ordering: .relaxed) }
    }

    func response(inRow row: StoredRowID) -> StoredResponse? { responses.first { $0.row == row } }
}

extension StoredResponse {
    var isOnDisk: Bool {
        if case .onDisk = body { true } else { false }
    }

    /// Whether it replaces the other: both are the same variant. One that omits Vary is a variant beside those that have it (RFC 9111 §4.1).
    func replaces(_ other: StoredResponse) -> Bool { nominatedFields == other.nominatedFields }

    /// What is needed of it to find what it replaces.
    var withoutContent: StoredResponse {
        StoredResponse(
            key: key, nominatedFields: nominatedFields, facts: facts, head: ResponseHead(), requestTime: requestTime,
            body: .bytes([]), row: row, variantLimit: variantLimit)
    }

    /// Whether the other came too late: this one is newer, and was asked for later (RFC 9111 §4).
    ///
    /// Not by Date alone: one that lies in the future would keep its place for as long.
    func supersedes(_ other: StoredResponse) -> Bool {
        requestTime > other.requestTime && isNewer(than: other)
    }
}

extension [StoredResponse] {
    /// Newest first, with one more.
    func inserting(_ response: StoredResponse) -> [StoredResponse] {
        var responses = self
        responses.insert(response, at: firstIndex { !$0.isNewer(than: response) } ?? count)
        return responses
    }
}

/// What a response counts for against the memory tier's marks.
enum MemoryCost {
    static func of(_ response: StoredResponse) -> Int {
        var count = 768 + response.key.count + response.nominatedFields.count + response.preparedHead.count
        count += response.head.fields.bytes.count + response.head.fields.lines.count * 20
        if case .bytes(let body) = response.body { count += body.count }
        return count
    }
}
