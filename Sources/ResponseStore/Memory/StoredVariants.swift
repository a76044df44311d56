import HTTPCaching
import HTTPMessage
import Synchronization

/// The stored responses of one key, newest first. Immutable; a change creates a new instance.
package final class StoredVariants: Sendable {
    package let key: [UInt8]
    package let responses: [StoredResponse]
    /// Whether these are all variants of the key. If so, a variant that is missing here is certainly not stored; otherwise
    /// the disk may have it.
    package let isComplete: Bool

    /// The size of the responses in memory, in bytes.
    let byteCount: Int
    /// The last use in seconds since the store was opened, times two, plus one if the responses were ever used.
    let accessStamp: Atomic<UInt32>
    /// The second up to which the file has recorded the use of these responses.
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
        // The stamp is not written again within a second, so that the cache line is only read.
        if accessStamp.load(ordering: .relaxed) != stamp { accessStamp.store(stamp, ordering: .relaxed) }
    }

    func response(inRow row: StoredRowID) -> StoredResponse? { responses.first { $0.row == row } }
}

extension StoredResponse {
    var isOnDisk: Bool {
        if case .onDisk = body { true } else { false }
    }

    /// Whether this response replaces the other one: both are then the same variant. A response without Vary does not replace one with
    /// Vary (RFC 9111 §4.1).
    func replaces(_ other: StoredResponse) -> Bool { nominatedFields == other.nominatedFields }

    /// A copy of the response without its content, which suffices to find the responses that it replaces.
    var withoutContent: StoredResponse {
        StoredResponse(
            key: key, nominatedFields: nominatedFields, facts: facts, head: ResponseHead(), requestTime: requestTime,
            body: .bytes([]), row: row, variantLimit: variantLimit)
    }

    /// Whether the other response arrived too late: this response is newer and was requested later (RFC 9111 §4).
    ///
    /// Date alone does not decide: a response with a Date in the future could not be replaced until that date.
    func supersedes(_ other: StoredResponse) -> Bool {
        requestTime > other.requestTime && isNewer(than: other)
    }
}

extension [StoredResponse] {
    /// The list with one more response, newest first.
    func inserting(_ response: StoredResponse) -> [StoredResponse] {
        var responses = self
        responses.insert(response, at: firstIndex { !$0.isNewer(than: response) } ?? count)
        return responses
    }
}

/// The size with which a response counts against the memory tier's marks.
enum MemoryCost {
    static func of(_ response: StoredResponse) -> Int {
        var count = 768 + response.key.count + response.nominatedFields.count + response.preparedHead.count
        count += response.head.fields.bytes.count + response.head.fields.lines.count * 20
        if case .bytes(let body) = response.body { count += body.count }
        return count
    }
}
