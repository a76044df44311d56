import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: connections opened before there is a request")
struct PreconnectTests {
    let authority = TestAuthority()

    private func prepare(_ harness: TransportHarness, port: UInt16) {
        harness.transport.prepare(Origin(scheme: .https, host: "127.0.0.1", port: port), via: "")
    }

    private func harness(_ origin: ScriptedOrigin) throws -> TransportHarness {
        let policies = try authority.policies()
        return try TransportHarness { $0.trust = policies }
    }

    @Test("The first request uses the prepared connection, whether it is ready or not", arguments: [true, false])
    func isUsed(waits: Bool) throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let harness = try harness(origin)
        prepare(harness, port: origin.port)
        prepare(harness, port: origin.port)
        #expect(!harness.transport.isQuiet)
        if waits { #expect(harness.run { harness.transport.statistics.idle == 1 }) }
        let chains = (0..<2).map { number in
            let recorder = Recorder()
            var chain: [Certificate] = []
            recorder.onHead = { chain = $0.judgedChain }
            _ = harness.open(recorder, scheme: .https, port: origin.port, path: "/\(number)")
            harness.run { recorder.hasEnded }
            #expect(recorder.text == "/\(number)")
            return chain.count
        }
        #expect(origin.connectionCount == 1)
        // Only the first request reports the chain that was judged for the connection.
        #expect(chains[0] > 0 && chains[1] == 0)
        #expect(harness.transport.isQuiet && harness.budgets.statistics.connections == 1)
    }

    @Test("If two requests arrive while it connects, one uses the prepared connection and the other opens its own")
    func isOneRequests() throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let harness = try harness(origin)
        prepare(harness, port: origin.port)
        let recorders = (0..<2).map { _ in Recorder() }
        for recorder in recorders { _ = harness.open(recorder, scheme: .https, port: origin.port) }
        #expect(harness.run { recorders.allSatisfy(\.hasEnded) })
        #expect(recorders.allSatisfy { $0.text == "/" } && origin.connectionCount == 2)
    }

    @Test("A server that is not trusted gets no request, and the request fails with the reason", arguments: [true, false])
    func refusesServer(waits: Bool) throws {
        let origin = ScriptedOrigin.secure(TestAuthority().identity())
        defer { origin.stop() }
        let harness = try harness(origin)
        prepare(harness, port: origin.port)
        if waits { #expect(harness.run { harness.transport.isQuiet }) }
        let recorder = harness.fetch(.https, port: origin.port)
        let isRefused = if case .untrusted = recorder.error { true } else { false }
        #expect(isRefused)
        #expect(origin.requestHeads.isEmpty)
        #expect(harness.transport.isQuiet && harness.budgets.statistics == (0, 0))
    }

    @Test("Cancelling the request or closing the transport leaves no connection behind", arguments: [true, false])
    func ends(isCancelled: Bool) throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let harness = try harness(origin)
        prepare(harness, port: origin.port)
        if isCancelled {
            harness.open(Recorder(), scheme: .https, port: origin.port).cancel()
            #expect(harness.transport.isQuiet)
        } else {
            harness.transport.close()
        }
        for _ in 0..<5 { harness.loop.turn(waitingAtMost: 2) }
        #expect(harness.budgets.statistics == (0, 0))
    }

    @Test("No connection is prepared while the gate is closed or when the limits leave no room")
    func isNotOpened() throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let policies = try authority.policies()
        let gate = EgressGate(.closed)
        let closed = try TransportHarness {
            $0.trust = policies
            $0.gate = gate
        }
        let full = try TransportHarness(budgets: UpstreamBudgets(connections: 0, connectionsPerOrigin: 0)) { $0.trust = policies }
        for harness in [closed, full] {
            prepare(harness, port: origin.port)
            #expect(harness.transport.isQuiet)
        }
        #expect(origin.connectionCount == 0)
    }
}
