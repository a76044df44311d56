import EventLoop
import HTTPMessage

/// One loop's way into the access log: noting a request copies it and allocates nothing, never waits for a disk, and drops
/// and counts what the writer is too slow for.
///
/// The loop notes, the writer's thread takes the whole batch in exchange for an empty one; the lock between them is held for
/// a copy or an exchange of two arrays.
package final class AccessLogBuffer: Sendable {
    private let batch: Guarded<AccessBatch>
    private let bell: AccessLogBell
    /// Nothing is written: a record need not even be made.
    let isOff: Bool
    private let includesQuery: Bool

    init(bell: AccessLogBell, isOff: Bool, includesQuery: Bool) {
        var empty = AccessBatch()
        if !isOff { empty.reserve() }
        batch = Guarded(empty)
        self.bell = bell
        self.isOff = isOff
        self.includesQuery = includesQuery
    }

    /// Notes one request, once it has ended.
    /// - Parameter url: the target URI, or `host:port` of a tunnel; its query is left out where the settings say so.
    package func append(
        _ record: AccessRecord, method: Span<UInt8>, url: Span<UInt8>, referrer: Span<UInt8> = Span(),
        userAgent: Span<UInt8> = Span(), contentType: Span<UInt8> = Span(), rule: Span<UInt8> = Span()
    ) {
        if isOff { return }
        let url = includesQuery ? url : url.extracting(first: url.lengthBeforeQuery)
        // A referrer is a URL too.
        let referrer = includesQuery ? referrer : referrer.extracting(first: referrer.lengthBeforeQuery)
        let call = batch.withLock { batch -> AccessLogBell.Call in
            if batch.isFull { return .dropped }
            let wasEmpty = batch.isEmpty
            let wasHalfFull = batch.isHalfFull
            batch.append(
                record, method: method, url: url, referrer: referrer, userAgent: userAgent, contentType: contentType, rule: rule)
            if batch.isHalfFull && !wasHalfFull { return .soon }
            return wasEmpty ? .inTime : .none
        }
        bell.ring(call)
    }

    /// Exchanges what was noted for an empty batch. For the writer.
    func take(_ empty: inout AccessBatch) {
        batch.withLock { swap(&$0, &empty) }
    }
}

extension Span<UInt8> {
    fileprivate var lengthBeforeQuery: Int {
        for index in 0..<count where self[index] == ASCII.question { return index }
        return count
    }
}
