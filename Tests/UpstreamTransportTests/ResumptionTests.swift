import Glibc
import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: resuming TLS sessions")
struct ResumptionTests {
    private let authority = TestAuthority()
    private static let day = 86_400

    /// An origin that says for each connection whether its session was resumed, and then closes.
    private func origin(_ identity: TLSIdentity) -> ScriptedOrigin {
        ScriptedOrigin(identity: identity) { connection in
            if connection.readHead() != nil { connection.respond(body: connection.isResumed ? "resumed" : "full") }
        }
    }

    @Test(
        "A further connection to a server resumes its session, and has the verdict of the first connection",
        arguments: [0x303, 0x304])
    func resumes(version: Int32) throws {
        let origin = origin(authority.identity(version: version))
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness { $0.trust = policies }
        let first = harness.fetch(.https, port: origin.port)
        #expect(first.text == "full")
        for _ in 0..<3 {
            let next = harness.fetch(.https, port: origin.port)
            #expect(next.text == "resumed")
            #expect(next.metrics.trustMark == first.metrics.trustMark)
        }
        #expect(first.metrics.trustMark != 0)
    }

    @Test("A resumed connection has the chain that the server was accepted with")
    func keepsChain() throws {
        let origin = origin(authority.identity())
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness { $0.trust = policies }
        var chains: [[SHA256Digest]] = []
        for _ in 0..<2 {
            let recorder = Recorder()
            recorder.onHead = { chains.append($0.judgedChain.map(\.digest)) }
            _ = harness.open(recorder, scheme: .https, port: origin.port)
            harness.run { recorder.hasEnded }
        }
        #expect(chains.count == 2 && chains[0] == chains[1] && chains[0].count == 2)
    }

    @Test("A soft staple check accepts a resumed session, in which no response is sent", arguments: [0x303, 0x304])
    func softStaple(version: Int32) throws {
        let origin = origin(authority.identity(version: version))
        defer { origin.stop() }
        let policies = try authority.policies(revocation: Revocation(stapleCheck: .soft))
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).text == "full")
        #expect(harness.fetch(.https, port: origin.port).text == "resumed")
    }

    @Test(
        "A hard staple check accepts a resumed session only while the response of the first handshake is valid",
        arguments: [0x303, 0x304])
    func hardStaple(version: Int32) throws {
        let origin = origin(authority.identity(version: version, stapleSeconds: 600))
        defer { origin.stop() }
        let policies = try authority.policies(revocation: Revocation(stapleCheck: .hard))
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).text == "full")
        harness.loop.advanceWallClock(milliseconds: 300_000)
        #expect(harness.fetch(.https, port: origin.port).text == "resumed")
        // A resumed connection brings a further ticket, which does not extend the time.
        harness.loop.advanceWallClock(milliseconds: 400_000)
        #expect(harness.fetch(.https, port: origin.port).error?.reason.description == "revocation_unknown")
        #expect(origin.requestHeads.count == 2)
    }

    @Test("With a hard staple check, a server that declines the session must staple a response again", arguments: [0x303, 0x304])
    func hardStapleDeclined(version: Int32) throws {
        let origin = origin([authority.identity(version: version, stapleSeconds: 600), authority.identity(version: version)])
        defer { origin.stop() }
        let policies = try authority.policies(revocation: Revocation(stapleCheck: .hard))
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).text == "full")
        #expect(harness.fetch(.https, port: origin.port).error?.reason.description == "revocation_unknown")
    }

    @Test("T33: a session is not resumed after the pins of its server have expired", arguments: [0x303, 0x304])
    func pinsRunOut(version: Int32) throws {
        let identity = authority.identity(version: version)
        let origin = origin(identity)
        defer { origin.stop() }
        let policies = try authority.policies(pins: identity.pins(expires: POSIXTime(seconds: Int64(time(nil)) + 60)))
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).text == "full")
        #expect(harness.fetch(.https, port: origin.port).text == "resumed")
        harness.loop.advanceWallClock(milliseconds: 120_000)
        #expect(harness.fetch(.https, port: origin.port).error?.reason.description == "empty_pins")
    }

    @Test("T33: a session is not resumed under other settings, whether they accept the server or not")
    func keepsSettingsApart() throws {
        let identity = authority.identity()
        let origin = origin(identity)
        defer { origin.stop() }
        let policies = [
            try authority.policies(), try authority.policies(), try authority.policies(pins: identity.pins()),
            try authority.policies(pins: authority.identity().pins()),
        ]
        let texts = try policies.map { policies in
            try TransportHarness { $0.trust = policies }.fetch(.https, port: origin.port)
        }
        #expect(texts[..<3].map(\.text) == ["full", "full", "full"])
        #expect(texts[3].error?.reason.description == "pin_mismatch")
    }

    @Test("After two hours the server must show its certificate again", arguments: [0x303, 0x304])
    func forgets(version: Int32) throws {
        let origin = origin(authority.identity(until: Self.day / 2, version: version))
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).text == "full")
        // Each resumed connection brings a further ticket, which does not extend the time.
        harness.loop.advanceWallClock(milliseconds: (ResumableSession.lifetime - 60) * 1000)
        #expect(harness.fetch(.https, port: origin.port).text == "resumed")
        harness.loop.advanceWallClock(milliseconds: 120_000)
        #expect(harness.fetch(.https, port: origin.port).text == "full")
    }

    @Test("A server that requests a client certificate gets it in each handshake", arguments: [0x303, 0x304])
    func keepsNoIdentity(version: Int32) throws {
        let origin = origin(authority.identity(version: version, asksClients: true))
        defer { origin.stop() }
        let policies = try authority.policies()
        let files = authority.clientFiles()
        var identities = HostTable<ClientIdentity>()
        let scope = try #require(HostScope(host: "127.0.0.1", port: nil))
        _ = identities.insert(try ClientIdentity(pem: files.certificate, key: files.key), for: scope)
        let harness = try TransportHarness { [identities] in
            $0.trust = policies
            $0.identities = identities
        }
        for _ in 0..<2 { #expect(harness.fetch(.https, port: origin.port).text == "full") }
    }

    /// An origin that uses the next of these identities for each connection, and the last one for all others.
    private func origin(_ identities: [TLSIdentity]) -> ScriptedOrigin {
        ScriptedOrigin { connection in
            connection.speakTLS(as: identities[min(connection.number, identities.count) - 1]) { inner in
                if inner.readHead() != nil { inner.respond(body: inner.isResumed ? "resumed" : "full") }
            }
        }
    }

    @Test("A server that declines the session is verified before a request is sent", arguments: [0x303, 0x304])
    func declined(version: Int32) throws {
        let other = TestAuthority(name: "Another")
        let origin = origin([authority.identity(version: version), other.identity(version: version)])
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).text == "full")
        guard case .untrusted = harness.fetch(.https, port: origin.port).error else {
            Issue.record("a server was accepted for the session of another")
            return
        }
        #expect(origin.requestHeads.count == 1)
    }

    @Test("A server that has declined a session is offered none for ten minutes", arguments: [0x303, 0x304])
    func offersAgain(version: Int32) throws {
        let origin = origin([authority.identity(version: version), authority.identity(version: version)])
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness { $0.trust = policies }
        for _ in 0..<4 { #expect(harness.fetch(.https, port: origin.port).text == "full") }
        harness.loop.advanceClock(milliseconds: 600_001)
        harness.loop.turn(waitingAtMost: 0)
        for expected in ["full", "resumed"] { #expect(harness.fetch(.https, port: origin.port).text == expected) }
    }

    @Test("Larder keeps a session for each of 256 servers, and then removes the oldest")
    func limit() throws {
        let origin = origin(authority.identity(names: "DNS:*.one.test"))
        defer { origin.stop() }
        let policies = try authority.policies()
        let hosts = (0...KeptSessions.limit).map { "h\($0).one.test" }
        let harness = try TransportHarness {
            $0.trust = policies
            for host in hosts { $0.resolve[host] = [.loopbackIPv4] }
        }
        for host in hosts { #expect(harness.fetch(.https, port: origin.port, host: host).text == "full") }
        #expect(harness.fetch(.https, port: origin.port, host: hosts[1]).text == "resumed")
        #expect(harness.fetch(.https, port: origin.port, host: hosts[0]).text == "full")
    }
}
