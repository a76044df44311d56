import EventLoop
import HTTPCaching
import HTTPMessage

/// Copies a body into the cache while a task reads it. If the reader stops before the end, nothing is stored.
final class BodyRecording: Sendable {
    private enum Destination: Sendable {
        case writer(any CachedBodyWriting)
        /// The body is collected in memory, because `willCache` needs all of it.
        case memory([UInt8], limit: Int)
        case nowhere
    }

    private let keeping: CacheKeeping
    private let destination: Guarded<Destination>

    init(_ writer: any CachedBodyWriting, for keeping: CacheKeeping) {
        self.keeping = keeping
        destination = Guarded(.writer(writer))
    }

    init(gathering limit: Int, for keeping: CacheKeeping) {
        self.keeping = keeping
        destination = Guarded(.memory([], limit: limit))
    }

    func append(_ octets: [UInt8]) async {
        let writer: (any CachedBodyWriting)? = destination.withLock { destination in
            switch destination {
            case .writer(let writer): return writer
            case .memory(var gathered, let limit):
                destination = .nowhere
                if gathered.count + octets.count <= limit {
                    gathered += octets
                    destination = .memory(gathered, limit: limit)
                }
                return nil
            case .nowhere: return nil
            }
        }
        await writer?.append(octets)
    }

    /// Completes the recording when the body has ended. Only the first call has an effect.
    func finish(_ trailers: Fields) async {
        let trailers = CachedResponse.Trailers(trailers)
        let last = destination.withLock { destination in
            defer { destination = .nowhere }
            return destination
        }
        switch last {
        case .writer(let writer):
            await writer.finish(trailers)
            keeping.noteStored()
        case .memory(let octets, _): await keeping.keep(octets, trailers)
        case .nowhere: break
        }
    }

    func abort() {
        let last = destination.withLock { destination in
            defer { destination = .nowhere }
            return destination
        }
        if case .writer(let writer) = last { writer.abort() }
    }
}
