import EventLoop
import HTTPCaching
import TestSupport
import Testing

@testable import HTTPSession

@Suite("HTTPSession: validation in the background (RFC 5861 §3)")
struct BackgroundValidationTests {
    /// A cache in memory that can hold back what one look-up has found.
    private final class HeldCache: ResponseCaching {
        private enum State {
            case open, armed
            case holding(CheckedContinuation<Void, Never>)
        }

        private let cache = MemoryResponseCache()
        private let state = Guarded(State.open)

        var isHolding: Bool { state.withLock { if case .holding = $0 { true } else { false } } }

        func holdNextLookUp() { state.withLock { $0 = .armed } }

        func release() {
            let held: CheckedContinuation<Void, Never>? = state.withLock { state in
                defer { state = .open }
                if case .holding(let continuation) = state { return continuation }
                return nil
            }
            held?.resume()
        }

        func responses(for key: CachedResponse.Key) async -> [CachedResponse] {
            let found = cache.responses(for: key)
            let isArmed: Bool = state.withLock { if case .armed = $0 { true } else { false } }
            if isArmed { await withCheckedContinuation { continuation in state.withLock { $0 = .holding(continuation) } } }
            return found
        }

        func body(of response: CachedResponse) -> (any CachedBodyReading)? { cache.body(of: response) }
        func moment(for key: CachedResponse.Key) -> CacheMoment { cache.moment(for: key) }
        func store(_ response: CachedResponse, since moment: CacheMoment) async -> Bool { cache.store(response, since: moment) }

        func beginStoring(
            _ response: CachedResponse, length: UInt64?, since moment: CacheMoment
        ) async -> (any CachedBodyWriting)? { cache.beginStoring(response, length: length, since: moment) }

        func freshen(_ old: CachedResponse, as new: CachedResponse, since moment: CacheMoment) async {
            cache.freshen(old, as: new, since: moment)
        }

        func remove(_ response: CachedResponse) async { cache.remove(response) }
        func remove(_ key: CachedResponse.Key) async { cache.remove(key) }
    }

    @Test("A request that found a response before another's validation replaced it does not validate it again")
    func validatesOnce() async throws {
        let requests = Guarded(0)
        let origin = ScriptedOrigin.answering { _, connection in
            let number = requests.withLock { count in
                count += 1
                return count
            }
            return connection.respond(
                fields: "Cache-Control: max-age=\(number == 1 ? 0 : 60), stale-while-revalidate=60\r\n", body: "\(number)")
        }
        defer { origin.stop() }
        let cache = HeldCache()
        let session = try HTTPSession.plain { $0.cache = cache }
        let uri = origin.uri()
        func get() async throws -> String { try await session.send(HTTPRequest(.get, uri)).text }
        #expect(try await get() == "1")
        cache.holdNextLookUp()
        let late = Task { try await session.send(HTTPRequest(.get, uri)).text }
        try await until { cache.isHolding }
        #expect(try await get() == "1")
        try await until { session.validations.isEmpty }
        #expect(try await get() == "2")
        cache.release()
        #expect(try await late.value == "1")
        try await until { session.validations.isEmpty }
        #expect(origin.requestHeads.count == 2)
    }
}
