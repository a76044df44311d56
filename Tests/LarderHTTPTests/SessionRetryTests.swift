import EventLoop
import HTTPMessage
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: retries")
struct SessionRetryTests {
    /// Answers 503 this many times, then 200.
    private static func failing(_ times: Int, fields: String = "") -> ScriptedOrigin {
        let count = SentCount()
        return ScriptedOrigin.answering { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            count.add(1)
            if count.value <= times { return connection.respond("503 Busy", fields: fields, body: "busy") }
            return connection.respond(body: "ok \(body.count)")
        }
    }

    private static func quick(_ change: (inout SessionConfiguration) -> Void = { _ in }) throws -> HTTPSession {
        try HTTPSession.plain {
            $0.retries = .standard
            $0.retries.delay = .milliseconds(10)
            change(&$0)
        }
    }

    @Test("503, 503, 200 succeeds after three requests; POST is sent once; a third 503 is delivered")
    func triesAgain() async throws {
        for (times, method, status, hits) in [
            (2, HTTPMethod.get, 200, 3), (2, .put, 200, 3), (1, .post, 503, 1), (3, .get, 503, 3),
        ] {
            let origin = Self.failing(times)
            defer { origin.stop() }
            let session = try Self.quick()
            let body: RequestBody = method == .get ? .none : .octets([1, 2, 3])
            let response = try await session.send(SessionRequest(method, origin.uri(), body: body))
            #expect(response.status == status)
            #expect(origin.requestHeads.count == hits)
            #expect(response.metrics.retryCount == hits - 1)
        }
    }

    @Test("Content that cannot be read again is sent once; a streamed response is retried before its head is delivered")
    func needsReplay() async throws {
        let origin = Self.failing(1)
        defer { origin.stop() }
        let session = try Self.quick()
        let stream = AsyncStream<[UInt8]> { $0.finish() }
        let once = try await session.send(SessionRequest(.put, origin.uri(), body: .stream(BodyStream(stream))))
        #expect(once.status == 503)
        let other = Self.failing(1)
        defer { other.stop() }
        let opened = try await session.open(SessionRequest(.get, other.uri()))
        #expect(opened.status == 200)
        #expect(try await opened.body.collect(atMost: 10) == Array("ok 0".utf8))
    }

    @Test("Retry-After is obeyed, in seconds and as a date; if the wait is too long, the response is delivered")
    func waitsAsAsked() async throws {
        let now = Timestamp(milliseconds: 1_790_000_000_000)
        for (value, expected) in [
            ("3", Duration.seconds(3)), ("Mon, 21 Sep 2026 14:13:25 GMT", .seconds(5)), ("Mon, 21 Sep 2020 14:13:25 GMT", .zero),
            ("x", nil),
            ("-1", nil),
        ] as [(String, Duration?)] {
            #expect(RetryAfter.wait(["Retry-After": value], at: now) == expected, "\(value)")
        }
        let policy = RetryPolicy()
        #expect(policy.wait(tries: 1, retryAfter: nil, chance: 0) == .milliseconds(500))
        #expect(policy.wait(tries: 2, retryAfter: nil, chance: 0) == .seconds(1))
        #expect(policy.wait(tries: 2, retryAfter: nil, chance: 1) == .milliseconds(1250))
        #expect(policy.wait(tries: 1, retryAfter: .seconds(2), chance: 0) == .seconds(2))
        #expect(policy.wait(tries: 1, retryAfter: .seconds(61), chance: 0) == nil)
        #expect(policy.wait(tries: 3, retryAfter: nil, chance: 0) == nil)
        let origin = Self.failing(1, fields: "Retry-After: 1\r\n")
        defer { origin.stop() }
        let began = ContinuousClock.now
        #expect(try await Self.quick().send(SessionRequest(.get, origin.uri())).status == 200)
        #expect(ContinuousClock.now - began >= .seconds(1))
    }

    @Test("A connection lost before or within the response is retried; a trust failure never is")
    func triesLostConnections() async throws {
        let count = SentCount()
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil {
                count.add(1)
                if count.value == 1 { return }
                if count.value == 2 {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                    return
                }
                connection.respond(body: "whole")
            }
        }
        defer { origin.stop() }
        let response = try await Self.quick().send(SessionRequest(.get, origin.uri()))
        #expect(response.text == "whole")
        var untrusted = SessionError(.connectionFailed)
        untrusted.trust = nil
        #expect(RetryPolicy.standard.permits(.failure(untrusted)))
        #expect(!RetryPolicy.standard.permits(.failure(SessionError(.trustRejected))))
        #expect(!RetryPolicy.standard.permits(.failure(SessionError(.cancelled))))
        #expect(RetryPolicy.lostConnections.permits(.failure(SessionError(.connectionTerminated))))
    }

    @Test("Cancelling a transfer ends its wait between tries")
    func waitEndsWithItsTransfer() async throws {
        let origin = Self.failing(5)
        defer { origin.stop() }
        let session = try Self.quick { $0.retries.delay = .seconds(20) }
        let transfer = Transfer()
        let uri = origin.uri()
        let task = Task { try await session.send(SessionRequest(.get, uri), as: transfer) }
        try await until { await session.statistics().sleepers == 1 }
        transfer.cancel()
        #expect(try await HTTPSession.failure { try await task.value }.code == .cancelled)
        #expect(await session.statistics().sleepers == 0)
    }

    @Test("Interceptors change each try and decide before the policy, and their errors are reported")
    func intercepts() async throws {
        final class Stamping: RequestInterceptor {
            let count = Atomic(0)
            func adapt(_ request: SessionRequest) async throws -> SessionRequest {
                var request = request
                request.fields["X-Try"] = "\(count.wrappingAdd(1, ordering: .relaxed).newValue)"
                return request
            }
        }
        struct Persistent: RequestInterceptor {
            func decide(_ request: SessionRequest, after outcome: TryOutcome, tries: Int) async -> RetryDecision {
                if case .response(let response) = outcome, response.status == 503 { return .retry(after: .zero) }
                return .pass
            }
        }
        struct Failing: RequestInterceptor {
            struct Reason: Error {}
            func adapt(_ request: SessionRequest) async throws -> SessionRequest { throw Reason() }
        }
        let origin = Self.failing(4)
        defer { origin.stop() }
        let stamping = Stamping()
        let session = try HTTPSession.plain { $0.interceptors = [stamping, Persistent()] }
        #expect(try await session.send(SessionRequest(.post, origin.uri())).status == 200)
        #expect(origin.requestHeads.map { OriginRequest(head: $0)["X-Try"] } == ["1", "2", "3", "4", "5"])
        let failing = try HTTPSession.plain { $0.interceptors = [Failing()] }
        let error = try await HTTPSession.failure { try await failing.send(SessionRequest(.get, origin.uri())) }
        #expect(error.code == .interceptorFailed)
        #expect(error.underlying is Failing.Reason)
    }

    @Test("Twenty requests refused at the same time cause one refresh, and all succeed")
    func refreshesOnce() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            request["Authorization"] == "Bearer new" ? connection.respond() : connection.respond("401 Unauthorized")
        }
        defer { origin.stop() }
        let refreshes = SentCount()
        let credential = CredentialInterceptor<String>.bearer("old") { former in
            refreshes.add(1)
            // Other requests are refused meanwhile.
            try await until { origin.requestHeads.count > 1 }
            return former == "old" ? "new" : "newer"
        }
        let session = try HTTPSession.plain { $0.interceptors = [credential] }
        let uri = origin.uri()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await session.send(SessionRequest(.post, uri)).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == [Int](repeating: 200, count: 20))
        #expect(refreshes.value == 1)
    }

    @Test("An origin that refuses every credential causes a limited number of refreshes; a failed refresh is reported")
    func refreshesWithinBounds() async throws {
        struct Unwell: Error {}
        let origin = ScriptedOrigin.answering { _, connection in connection.respond("401 Unauthorized") }
        defer { origin.stop() }
        let count = SentCount()
        let turning = CredentialInterceptor<String>.bearer("0", window: .init(time: .seconds(86_400))) { _ in
            count.add(1)
            return "\(count.value)"
        }
        let session = try HTTPSession.plain { $0.interceptors = [turning] }
        let error = try await HTTPSession.failure { try await session.send(SessionRequest(.get, origin.uri())) }
        #expect(error.code == .interceptorFailed)
        #expect(error.response?.status == 401)
        #expect(count.value == 5)
        let failing = CredentialInterceptor<String>.bearer("0") { _ in throw Unwell() }
        let other = try HTTPSession.plain { $0.interceptors = [failing] }
        let second = try await HTTPSession.failure { try await other.send(SessionRequest(.get, origin.uri())) }
        #expect(second.code == .interceptorFailed)
        #expect(second.underlying is Unwell)
    }

    @Test("Without a network a retry waits for one, but no longer than allowed", arguments: [true, false])
    func waitsForNetwork(comesBack: Bool) async throws {
        let retrier = OfflineRetrier(waitingAtMost: comesBack ? .seconds(Deadline.seconds) : .milliseconds(100)) {
            if !comesBack { try? await Task.sleep(for: .seconds(86_400)) }
        }
        let decision = await retrier.decide(SessionRequest(.get, "http://h/"), after: .failure(SessionError(.dnsError)), tries: 1)
        if case .retry = decision { #expect(comesBack) } else { #expect(!comesBack) }
    }

    @Test("Each transfer sends one begin event and one completion event, whatever its outcome", arguments: [5 as UInt64])
    func tellsEachEndOnce(seed: UInt64) async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            switch request.target {
            case "/cut": false
            case "/moved": connection.respond("302 Found", fields: "Location: /ok\r\n")
            case "/busy": connection.respond("503 Busy")
            default: connection.respond(body: "ok")
            }
        }
        defer { origin.stop() }
        let monitor = CountingMonitor()
        let session = try Self.quick {
            $0.monitors = [monitor]
            $0.retries.delay = .milliseconds(1)
            $0.limits.activeExchanges = 8
        }
        var dice = SeededGenerator(seed: seed)
        let uri = origin.uri("")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<300 {
                let path = dice.one(of: ["/ok", "/cut", "/moved", "/busy"])
                let (isCancelled, isOpened) = (dice.chance(20), dice.chance(30))
                group.addTask {
                    let task = Task {
                        if isOpened {
                            for try await _ in try await session.open(SessionRequest(.get, uri + path)).body {}
                        } else {
                            _ = try await session.send(SessionRequest(.get, uri + path))
                        }
                    }
                    if isCancelled { task.cancel() }
                    _ = await task.result
                }
            }
        }
        await session.shutdown(.drain(deadline: .seconds(5)))
        #expect(monitor.begun == 300)
        #expect(monitor.completed == Set(1...300))
        #expect(monitor.repeated.isEmpty)
    }
}

/// Counts the begin and completion events of transfers.
private final class CountingMonitor: EventMonitor {
    private struct Counts {
        var begun = 0
        var completed: Set<UInt64> = []
        var repeated: [UInt64] = []
    }

    private let counts = Guarded(Counts())

    var begun: Int { counts.withLock { $0.begun } }
    var completed: Set<UInt64> { counts.withLock { $0.completed } }
    var repeated: [UInt64] { counts.withLock { $0.repeated } }

    func sessionDid(_ event: SessionEvent) {
        counts.withLock { counts in
            switch event.kind {
            case .began: counts.begun += 1
            case .completed: if !counts.completed.insert(event.transfer).inserted { counts.repeated.append(event.transfer) }
            default: break
            }
        }
    }
}
