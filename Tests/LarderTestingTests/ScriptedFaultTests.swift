import LarderHTTP
import LarderTesting
import Testing

@Suite("A scripted network: faults, and delays in virtual time")
struct ScriptedFaultTests {
    private static func session(_ network: ScriptedNetwork, retries: RetryPolicy = .never) throws -> HTTPSession {
        var configuration = SessionConfiguration()
        configuration.retries = retries
        return try HTTPSession(network, configuration: configuration)
    }

    private static func failure(_ reply: ScriptedReply, timeouts: SessionTimeouts? = nil) async throws -> (
        SessionError?, VirtualClock
    ) {
        let network = ScriptedNetwork()
        network.on(.get, "/", reply: reply)
        var request = SessionRequest(.get, "http://a.example/")
        request.timeouts = timeouts
        do {
            _ = try await session(network).send(request)
            return (nil, network.clock)
        } catch let error as SessionError { return (error, network.clock) }
    }

    @Test(
        "A fault fails the request with its code",
        arguments: [
            (.refused, .connectionRefused), (.unknownHost, .dnsError), (.reset, .connectionTerminated), (.timeout, .timeout),
            (.failure(.trustRejected), .trustRejected), (.text("a").cut(after: 0), .incompleteResponse),
        ] as [(ScriptedReply, SessionError.Code)])
    func fails(reply: ScriptedReply, code: SessionError.Code) async throws {
        #expect(try await Self.failure(reply).0?.code == code)
    }

    @Test("A cut body leaves the response and the part that arrived")
    func cuts() async throws {
        let error = try await Self.failure(.text("half of it").cut(after: 4)).0
        #expect(error?.code == .incompleteResponse && error?.partialBody == Array("half".utf8) && error?.response?.status == 200)
    }

    @Test("Each timeout applies in virtual time, and the clock moves by it")
    func timesOut() async throws {
        var timeouts = SessionTimeouts()
        timeouts.firstByte = .seconds(30)
        timeouts.idle = .seconds(20)
        let (first, clock) = try await Self.failure(.text("late").delayed(by: .seconds(31)), timeouts: timeouts)
        #expect(first?.phase == .firstByte && clock.now.sinceStart == .seconds(30))
        let (idle, second) = try await Self.failure(
            .text("late").delayed(by: .seconds(30)).pausing(for: .seconds(21), after: 2), timeouts: timeouts)
        #expect(idle?.phase == .idle && idle?.partialBody == Array("la".utf8) && second.now.sinceStart == .seconds(50))
        timeouts.total = .seconds(40)
        let (total, third) = try await Self.failure(
            .text("late").delayed(by: .seconds(25)).pausing(for: .seconds(19), after: 2), timeouts: timeouts)
        #expect(total?.phase == .total && third.now.sinceStart == .seconds(40))
        let (none, fourth) = try await Self.failure(
            .text("in time").delayed(by: .seconds(20)).pausing(for: .seconds(20), after: 2), timeouts: timeouts)
        #expect(none == nil && fourth.now.sinceStart == .seconds(40))
    }

    @Test("A delay of an hour and the wait before a retry take no real time")
    func waitsVirtually() async throws {
        let network = ScriptedNetwork()
        network.on(
            .get, "/", replies: [.status(503, fields: ["Retry-After": "50"]), .reset, .text("there").delayed(by: .seconds(3600))])
        var request = SessionRequest(.get, "http://a.example/")
        request.timeouts = SessionTimeouts()
        request.timeouts?.firstByte = .zero
        var retries = RetryPolicy.standard
        retries.jitter = 0
        let response = try await Self.session(network, retries: retries).send(request)
        #expect(response.text == "there" && response.metrics.retryCount == 2)
        #expect(network.requests.map(\.time.sinceStart) == [.zero, .seconds(50), .seconds(51)])
        #expect(network.clock.now.sinceStart == .seconds(3651))
    }

    @Test("A manual clock holds a response until the test advances it")
    func isManual() async throws {
        let clock = VirtualClock(.manual)
        let network = ScriptedNetwork(clock: clock)
        network.on(.get, "/", reply: .text("there").delayed(by: .seconds(50)))
        let session = try Self.session(network)
        let sending = Task { try await session.get("http://a.example/").text }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(49))
        #expect(session.transfers().count == 1)
        clock.advance(by: .seconds(1))
        #expect(try await sending.value == "there")
    }

    @Test("Cancelling a request ends its delay, and cancelling a wait before a retry ends the wait")
    func cancels() async throws {
        let clock = VirtualClock(.manual)
        let network = ScriptedNetwork(clock: clock)
        network.on(.get, "/late", reply: .text("late").delayed(by: .seconds(50)))
        network.on(.get, "/busy", reply: .status(503))
        let session = try Self.session(network, retries: .standard)
        for target in ["http://a.example/late", "http://a.example/busy"] {
            let sending = Task { try await session.get(target) }
            await clock.sleepers(atLeast: 1)
            sending.cancel()
            await #expect(throws: SessionError(.cancelled)) { try await sending.value }
        }
    }

    @Test("The sleeps of a manual clock end in the order of their times")
    func ordersSleeps() async throws {
        let clock = VirtualClock(.manual)
        let (ended, continuation) = AsyncStream.makeStream(of: Int.self)
        for seconds in [3, 1, 2] {
            Task {
                try await clock.sleep(for: .seconds(seconds))
                continuation.yield(seconds)
            }
        }
        await clock.sleepers(atLeast: 3)
        var order: [Int] = []
        var iterator = ended.makeAsyncIterator()
        for _ in 0..<3 {
            clock.advance(by: .seconds(1))
            order.append(await iterator.next() ?? 0)
        }
        #expect(order == [1, 2, 3])
    }

    @Test("A download whose body is cut asks for the rest")
    func resumes() async throws {
        let network = ScriptedNetwork()
        let whole = ScriptedReply.text("0123456789").with(fields: ["ETag": "\"1\""])
        network.on(.get, "/file", replies: [whole.cut(after: 4)])
        network.on(
            .get, "/file",
            respond: { request in
                guard request.fields["Range"] == "bytes=4-", request.fields["If-Range"] == "\"1\"" else { return .status(400) }
                return ScriptedReply(206, fields: ["ETag": "\"1\"", "Content-Range": "bytes 4-9/10"], body: Array("456789".utf8))
            })
        let folder = try TemporaryFolder()
        let file = try await Self.session(network, retries: .standard).download(
            SessionRequest(.get, "http://a.example/file"), to: .file(folder.path("a")))
        #expect(file.length == 10 && folder.read("a") == Array("0123456789".utf8))
        try network.check()
    }
}
