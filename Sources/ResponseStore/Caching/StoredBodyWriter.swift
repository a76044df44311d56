import HTTPCaching

/// Passes a body to the store as it arrives, no faster than the store writes it.
final class StoredBodyWriter: CachedBodyWriting {
    private let pending: PendingResponse

    init(_ pending: PendingResponse) { self.pending = pending }

    deinit { pending.abort() }

    func append(_ octets: [UInt8]) async {
        if pending.append(octets.span) == .proceed { return }
        await withCheckedContinuation { continuation in
            pending.whenReady { continuation.resume() }
        }
    }

    func finish(_ trailers: CachedResponse.Trailers) async { pending.finish(trailers: trailers.fields) }

    func abort() { pending.abort() }
}
