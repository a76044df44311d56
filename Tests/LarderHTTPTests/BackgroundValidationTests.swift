import EventLoop
import HTTPCaching
import HTTPMessage
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: background validation (RFC 5861 §3)")
struct BackgroundValidationTests {
    /// A cache in memory that can delay the result of one lookup.
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
        func moment(for key: CachedResponse.Key) -> InvalidationEpoch { cache.moment(for: key) }
        func store(_ response: CachedResponse, since moment: InvalidationEpoch) async -> Bool {
            cache.store(response, since: moment)
        }

        func beginStoring(
            _ response: CachedResponse, length: UInt64?, since moment: InvalidationEpoch
        ) async -> (any CachedBodyWriting)? { cache.beginStoring(response, length: length, since: moment) }

        func freshen(_ old: CachedResponse, as new: CachedResponse, since moment: InvalidationEpoch) async {
            cache.freshen(old, as: new, since: moment)
        }

        func remove(_ response: CachedResponse) async { cache.remove(response) }
        func remove(_ key: CachedResponse.Key) async { cache.remove(key) }
        func removeAll() async -> Bool { cache.removeAll() }
        func statistics() async -> CacheStatistics { cache.statistics() }
    }

    @Test("A request that found a response before another validation replaced it does not validate it again")
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
        func get() async throws -> String { try await session.send(SessionRequest(.get, uri)).text }
        #expect(try await get() == "1")
        cache.holdNextLookUp()
        let late = Task { try await session.send(SessionRequest(.get, uri)).text }
        try await until { cache.isHolding }
        #expect(try await get() == "1")
        try await until { session.validations.isEmpty }
        #expect(try await get() == "2")
        cache.release()
        #expect(try await late.value == "1")
        try await until { session.validations.isEmpty }
        #expect(origin.requestHeads.count == 2)
    }

    /// A session, and an origin whose first response to each path is immediately stale, and which then returns errors with
    /// these fields.
    private static func stage(_ status: String, _ fields: String) throws -> (session: HTTPSession, origin: ScriptedOrigin) {
        let known = Guarded<Set<String>>([])
        let origin = ScriptedOrigin.answering { request, connection in
            if known.withLock({ $0.insert(request.target).inserted }) {
                return connection.respond(fields: "Cache-Control: max-age=0, stale-while-revalidate=600\r\n", body: "stored")
            }
            return connection.respond(status, fields: fields, body: "error")
        }
        return (try HTTPSession.plain { $0.cache = MemoryResponseCache() }, origin)
    }

    @Test(
        "After an error with Retry-After that URL is not validated again before the time given; other URLs are",
        arguments: ["429 Too Many Requests", "503 Service Unavailable"], ["600", "Fri, 01 Jan 2100 00:00:00 GMT"])
    func obeysRetryAfter(status: String, wait: String) async throws {
        let (session, origin) = try Self.stage(status, "Retry-After: \(wait)\r\n")
        defer { origin.stop() }
        func get(_ path: String) async throws -> String {
            let text = try await session.send(SessionRequest(.get, origin.uri(path))).text
            try await until { session.validations.isEmpty }
            return text
        }
        for _ in 0..<4 { #expect(try await get("/a") == "stored") }
        #expect(origin.requestHeads.count == 2)
        for _ in 0..<3 { #expect(try await get("/b") == "stored") }
        #expect(origin.requestHeads.count == 4)
    }

    @Test(
        "Without a Retry-After in the future, each use of the stale response validates it",
        arguments: ["", "0", "soon", "Fri, 01 Jan 2010 00:00:00 GMT"])
    func validatesAtOnce(wait: String) async throws {
        let (session, origin) = try Self.stage("503 Service Unavailable", wait.isEmpty ? "" : "Retry-After: \(wait)\r\n")
        defer { origin.stop() }
        for _ in 0..<4 {
            #expect(try await session.send(SessionRequest(.get, origin.uri())).text == "stored")
            try await until { session.validations.isEmpty }
        }
        // The first use stored the response.
        #expect(origin.requestHeads.count == 4)
    }

    @Test("When too many keys wait, only the one whose wait ends first is dropped")
    func keepsTheLongestWaits() {
        let validations = BackgroundValidations()
        let now = Timestamp(seconds: 1_795_415_000)
        func key(_ number: Int) -> CachedResponse.Key { CachedResponse.Key(Array("http://a/\(number)".utf8)) }
        func wait(_ number: Int, seconds: Int64) {
            #expect(validations.enter(key(number), at: now))
            validations.leave(key(number), until: now.advanced(seconds: seconds), at: now)
        }
        let limit = BackgroundValidations.postponedLimit
        // The one in the middle ends first.
        for number in 0..<limit { wait(number, seconds: number == limit / 2 ? 10 : 100 + Int64(number)) }
        #expect((0..<limit).allSatisfy { !validations.enter(key($0), at: now) })
        wait(limit, seconds: 50)
        let free = (0...limit).filter { validations.enter(key($0), at: now) }
        #expect(free == [limit / 2])
        // A wait that ends before all others is dropped itself.
        validations.leave(key(limit / 2), until: now.advanced(seconds: 20), at: now)
        #expect((0...limit).filter { validations.enter(key($0), at: now) } == [limit / 2])
    }

    @Test("After the wait has ended, the response is validated again")
    func endsWaits() {
        let validations = BackgroundValidations()
        let (key, now) = (CachedResponse.Key(Array("http://a/".utf8)), Timestamp(seconds: 1_795_415_000))
        #expect(validations.enter(key, at: now) && !validations.enter(key, at: now))
        validations.leave(key, until: now.advanced(seconds: 5), at: now)
        #expect(!validations.enter(key, at: now.advanced(seconds: 4)) && validations.enter(key, at: now.advanced(seconds: 5)))
        validations.leave(key, until: nil, at: now)
        #expect(validations.isEmpty && validations.enter(key, at: now))
    }

    @Test("Setting the clock back ends every wait")
    func outlivesClockSetBack() {
        let validations = BackgroundValidations()
        let (key, now) = (CachedResponse.Key(Array("http://a/".utf8)), Timestamp(seconds: 1_795_415_000))
        #expect(validations.enter(key, at: now))
        validations.leave(key, until: now.advanced(seconds: 5), at: now)
        #expect(!validations.enter(key, at: now) && validations.enter(key, at: now.advanced(seconds: -86_400)))
    }
}
