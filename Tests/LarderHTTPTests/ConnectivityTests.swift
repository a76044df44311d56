import LarderHTTP
import LarderTesting
import Reachability
import Testing

@Suite("A session without a network: the switch, and waiting for connectivity")
struct ConnectivityTests {
    private static let target = "http://a.example/"

    @Test("Offline, a session serves stored responses of any age, and fails every other request at once")
    func isOffline() async throws {
        let network = ScriptedNetwork()
        network.on(
            .get, "/stored", reply: .text("stored").with(fields: ["Cache-Control": "max-age=60", "Age": "3600", "ETag": "\"1\""]))
        network.on(nil, "/", reply: .text("new"))
        var configuration = SessionConfiguration()
        configuration.cache = MemoryResponseCache()
        let session = try HTTPSession(network, configuration: configuration)
        #expect(try await session.get("http://a.example/stored").text == "stored")
        #expect(!session.isOffline)
        session.isOffline = true
        #expect(try await session.get("http://a.example/stored").text == "stored")
        await #expect(throws: SessionError(.offline)) { try await session.get(Self.target) }
        await #expect(throws: SessionError(.offline)) { try await session.post(Self.target) }
        #expect(network.requests.count == 1)
        session.isOffline = false
        #expect(try await session.get(Self.target).text == "new")
    }

    /// A monitor that reports that the machine is offline, and a session that waits for it.
    private static func waiting(
        _ network: ScriptedNetwork, atMost limit: Duration = .seconds(60)
    ) async throws -> (ReachabilityMonitor, HTTPSession) {
        let monitor = try ReachabilityMonitor()
        monitor.force(.offline(.forced))
        for await status in monitor.statuses() where status == .offline(.forced) { break }
        network.on(.get, "/", reply: .text("there"))
        var configuration = SessionConfiguration()
        configuration.connectivity = ConnectivityWait(monitor, atMost: limit)
        return (monitor, try HTTPSession(network, configuration: configuration))
    }

    @Test("A request waits until there is a network, and is sent once then")
    func waits() async throws {
        let clock = VirtualClock(.manual)
        let network = ScriptedNetwork(clock: clock)
        let (monitor, session) = try await Self.waiting(network)
        defer { monitor.stop() }
        let sending = Task { try await session.get(Self.target).text }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(59))
        #expect(network.requests.isEmpty && session.transfers().map(\.phase) == [.waiting])
        monitor.force(.unknown)
        #expect(try await sending.value == "there")
        #expect(try await session.get(Self.target).text == "there")
        try network.check(.get, "/", times: 2)
    }

    @Test("After its limit the wait fails with `offline`, and a cancelled request ends its wait")
    func endsWaits() async throws {
        let clock = VirtualClock(.manual)
        let network = ScriptedNetwork(clock: clock)
        let (monitor, session) = try await Self.waiting(network)
        defer { monitor.stop() }
        let late = Task { try await session.get(Self.target) }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(60))
        await #expect(throws: SessionError(.offline)) { try await late.value }
        let cancelled = Task { try await session.get(Self.target) }
        await clock.sleepers(atLeast: 1)
        cancelled.cancel()
        await #expect(throws: SessionError(.cancelled)) { try await cancelled.value }
        #expect(network.requests.isEmpty)
    }

    @Test("A stopped monitor holds no request")
    func isStopped() async throws {
        let clock = VirtualClock(.manual)
        let network = ScriptedNetwork(clock: clock)
        let (monitor, session) = try await Self.waiting(network)
        let sending = Task { try await session.get(Self.target).text }
        await clock.sleepers(atLeast: 1)
        monitor.stop()
        #expect(try await sending.value == "there")
    }
}
