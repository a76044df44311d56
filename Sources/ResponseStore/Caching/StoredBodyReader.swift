import EventLoop
import HTTPCaching

/// Reads a body from disk piece by piece, and keeps the body on disk as long as the reader exists.
final class StoredBodyReader: CachedBodyReading {
    private let store: ResponseStore
    private let hold: BodyHold
    private let offset = Guarded<UInt64>(0)

    init(_ body: BodyReference, in store: ResponseStore) {
        self.store = store
        hold = store.hold(body)
    }

    func next() async throws(CachedBodyLost) -> [UInt8]? {
        let start = offset.withLock { $0 }
        if start >= hold.body.length { return nil }
        let result = await withCheckedContinuation { continuation in
            store.readBody(hold.body, at: start) { continuation.resume(returning: $0) }
        }
        guard case .bytes(let octets, let range) = result, !range.isEmpty else { throw CachedBodyLost() }
        offset.withLock { $0 = start + UInt64(range.count) }
        return range == octets.indices ? octets : Array(octets[range])
    }
}
