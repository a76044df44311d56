import HTTPCaching

/// Hands a body over to the store as it comes, no faster than it is written.
final class StoredBodyWriter: CachedBodyWriting {
    private let filling: Filling

    init(_ filling: Filling) { self.filling = filling }

    deinit { filling.abort() }

    func append(_ octets: [UInt8]) async {
        if filling.append(octets.span) == .proceed { return }
        await withCheckedContinuation { continuation in
            filling.whenReady { continuation.resume() }
        }
    }

    func finish(_ trailers: CachedResponse.Trailers) async { filling.finish(trailers: trailers.fields) }

    func abort() { filling.abort() }
}
