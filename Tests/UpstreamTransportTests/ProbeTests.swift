import EventLoop
import Glibc
import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Servers are verified before a tunnel to them is opened")
struct ProbeTests {
    private let authority = TestAuthority()

    private func connect(kept: Int = 60_000) -> ConnectPolicy {
        var policy = ConnectPolicy(fallback: .probe)
        policy.insert(.probe, for: HostScope(host: "127.0.0.1")!)  // a valid host
        policy.keptMilliseconds = kept
        return policy
    }

    private func harness(pins: PinSet? = nil, kept: Int = 60_000, proxy: UInt16? = nil) throws -> TransportHarness {
        let policies = try authority.policies(pins: pins)
        return try TransportHarness {
            $0.trust = policies
            $0.connect = connect(kept: kept)
            $0.resolve = ["one.test": [.loopbackIPv6, .loopbackIPv4]]
            $0.proxy = proxy.map { UpstreamProxy(host: "127.0.0.1", port: $0) }
        }
    }

    private func letGo(of recorder: Recorder) {
        if let descriptor = recorder.tunnelDescriptor { close(descriptor) }
    }

    @Test("A server with another key than the pinned one gets a handshake, but no tunnel", arguments: [0x303, 0x304])
    func refuses(version: Int32) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version))
        let harness = try harness(pins: authority.identity().pins())
        let recorder = harness.openTunnel(to: "one.test", port: origin.port)
        #expect(recorder.error?.reason.description == "pin_mismatch")
        #expect(harness.transport.isQuiet)
        origin.stop()
        #expect(origin.connectionCount == 1 && origin.failedHandshakeCount == 1)
    }

    @Test("A good verdict is used for further tunnels until its time is over")
    func keeps() throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        let harness = try harness()
        for tunnels in 1...3 {
            let recorder = harness.openTunnel(to: "one.test", port: origin.port)
            #expect(recorder.tunnelAddress == .loopbackIPv4)
            letGo(of: recorder)
            harness.run { origin.connectionCount == 1 + tunnels }
        }
        harness.loop.advanceClock(milliseconds: 60_000)
        harness.loop.turn(waitingAtMost: 0)
        letGo(of: harness.openTunnel(to: "one.test", port: origin.port))
        harness.run { origin.connectionCount == 6 }
        #expect(origin.connectionCount == 6)
    }

    @Test("A host with enforced pins is probed for every tunnel, whatever time is set")
    func probesPinnedHosts() throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        let harness = try harness(pins: identity.pins())
        for tunnels in 1...3 {
            letGo(of: harness.openTunnel(to: "one.test", port: origin.port))
            harness.run { origin.connectionCount == 2 * tunnels }
        }
        #expect(origin.connectionCount == 6)
    }

    @Test("If a server changes its key after a good probe, a host with enforced pins gets no tunnel")
    func refusesChangedServers() throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        let port = origin.port
        let harness = try harness(pins: identity.pins())
        letGo(of: harness.openTunnel(to: "one.test", port: port))
        origin.stop()
        let other = ScriptedOrigin(port: port, identity: authority.identity()) { _ = $0.readToEnd() }
        #expect(harness.openTunnel(to: "one.test", port: port).error?.reason.description == "pin_mismatch")
        other.stop()
        #expect(other.connectionCount == 1 && other.failedHandshakeCount == 1)
    }

    @Test("The verdict on a host whose pins are only reported is cached until the pins are enforced")
    func cachesReportedPins() throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        let start = POSIXTime(seconds: Int64(time(nil)) + 100)
        let harness = try harness(pins: identity.pins(enforcement: .enforcedFrom(start)))
        for tunnels in 1...2 {
            letGo(of: harness.openTunnel(to: "one.test", port: origin.port))
            harness.run { origin.connectionCount == 1 + tunnels }
        }
        harness.loop.advanceWallClock(milliseconds: 200_000)
        for tunnels in 1...2 {
            letGo(of: harness.openTunnel(to: "one.test", port: origin.port))
            harness.run { origin.connectionCount == 3 + 2 * tunnels }
        }
        #expect(origin.connectionCount == 7)
    }

    @Test("If verdicts are kept for no time, each tunnel has its own handshake")
    func keepsNothing() throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let harness = try harness(kept: 0)
        for _ in 0..<2 { letGo(of: harness.openTunnel(to: "one.test", port: origin.port)) }
        harness.run { origin.connectionCount == 4 }
        #expect(origin.connectionCount == 4)
    }

    @Test("T33: a verdict is not used after its pins have expired")
    func pinsRunOut() throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        let harness = try harness(pins: identity.pins(expires: POSIXTime(seconds: Int64(time(nil)) + 100)))
        letGo(of: harness.openTunnel(to: "one.test", port: origin.port))
        harness.loop.advanceWallClock(milliseconds: 200_000)
        #expect(harness.openTunnel(to: "one.test", port: origin.port).error?.reason.description == "empty_pins")
    }

    @Test("T04: tunnels go to the address that was verified, even if the name later resolves elsewhere")
    func keepsAddress() throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        let harness = try harness()
        // Nothing listens at the first address yet.
        let first = harness.openTunnel(to: "one.test", port: origin.port)
        #expect(first.tunnelAddress == .loopbackIPv4)
        letGo(of: first)
        let usurper = ScriptedOrigin(ipv6: true, port: origin.port) { _ in }
        defer { usurper.stop() }
        let second = harness.openTunnel(to: "one.test", port: origin.port)
        #expect(second.tunnelAddress == .loopbackIPv4)
        letGo(of: second)
        #expect(usurper.connectionCount == 0)
        // After that time the name is resolved again, and leads to the new server.
        harness.loop.advanceClock(milliseconds: 60_000)
        harness.loop.turn(waitingAtMost: 0)
        #expect(harness.openTunnel(to: "one.test", port: origin.port).error != nil)
        #expect(usurper.connectionCount == 1)
    }

    @Test("If the verified address no longer answers, the name is resolved again and the server there is verified")
    func moves() throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        let port = origin.port
        let harness = try harness()
        let first = harness.openTunnel(to: "one.test", port: port)
        #expect(first.tunnelAddress == .loopbackIPv4)
        letGo(of: first)
        origin.stop()
        let moved = ScriptedOrigin(ipv6: true, port: port, identity: identity) { _ = $0.readToEnd() }
        let second = harness.openTunnel(to: "one.test", port: port)
        #expect(second.tunnelAddress == .loopbackIPv6)
        letGo(of: second)
        harness.run { moved.connectionCount == 2 }
        moved.stop()
        #expect(moved.connectionCount == 2)
        #expect(harness.openTunnel(to: "one.test", port: port).error != nil)
    }

    @Test("T49: pins for port 443 forbid plain text at port 80, in tunnels and in ordinary exchanges")
    func forbidsPlaintext() throws {
        let pinned = try authority.policy(pins: authority.identity().pins())
        let policies = try TrustPolicySet(
            [.init(host: "one.test", port: 443, policy: pinned)], fallback: .policy(authority.policy()))
        let harness = try TransportHarness {
            $0.trust = policies
            $0.connect.insert(.probe, for: HostScope(host: "one.test", port: 443)!)  // a valid host
        }
        func decision(_ host: String) -> HelloDecision {
            harness.transport.decide(
                on: nil, inTunnelTo: Origin(scheme: .http, host: host, port: 80), openedBy: harness.transport,
                needsName: false)
        }
        #expect(decision("one.test") == .refuse(.notTLS) && decision("two.test") == .pass)
        #expect(harness.fetch(port: 80, host: "one.test").error == .plaintextToPinnedHost)
    }

    @Test("Tunnels requested at the same time share one handshake, even if one of them is cancelled")
    func shares() throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let harness = try harness()
        let recorders = (0..<4).map { _ in Recorder() }
        let openings = recorders.map { recorder in
            harness.transport.openTunnel(
                to: Origin(scheme: .http, host: "one.test", port: origin.port), via: "", delegate: recorder)
        }
        openings[0].cancel()
        harness.run { recorders.dropFirst().allSatisfy(\.hasEnded) }
        #expect(recorders.map(\.hasEnded) == [false, true, true, true])
        for recorder in recorders { letGo(of: recorder) }
        harness.run { origin.connectionCount == 4 }
        #expect(origin.connectionCount == 4)
    }

    @Test("A probe ends when the last tunnel that waits for it is cancelled")
    func endsWithTheLast() throws {
        let origin = ScriptedOrigin { connection in _ = connection.readToEnd() }
        defer { origin.stop() }
        let harness = try harness()
        let opening = harness.transport.openTunnel(
            to: Origin(scheme: .http, host: "one.test", port: origin.port), via: "", delegate: Recorder())
        harness.run { origin.openCount == 1 }
        #expect(!harness.transport.isQuiet)
        opening.cancel()
        #expect(harness.transport.isQuiet)
        harness.run { origin.openCount == 0 }
    }

    @Test("Through an upstream proxy, both the handshake and the tunnel use CONNECT")
    func goesThroughProxy() throws {
        let identity = authority.identity()
        let proxy = ScriptedOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            if connection.number == 1 {
                connection.speakTLS(as: identity) { _ = $0.readToEnd() }
            } else {
                _ = connection.readToEnd()
            }
        }
        defer { proxy.stop() }
        let harness = try harness(proxy: proxy.port)
        for _ in 0..<2 {
            let recorder = harness.openTunnel(to: "one.test", port: 443)
            #expect(recorder.tunnelDescriptor != nil)
            letGo(of: recorder)
        }
        #expect(proxy.requestHeads.map { $0.hasPrefix("CONNECT one.test:443 HTTP/1.1\r\n") } == [true, true, true])
        #expect(proxy.requestHeads.allSatisfy { $0.contains("Via: 1.1 one, 1.0 two\r\n") })
    }

    private final class Listener: JudgementDelegate {
        var result: Result<VettedServer, TransportError>?
        func judgement(_ judgement: Judgement, didEndWith result: Result<VettedServer, TransportError>) { self.result = result }
    }

    @Test("A server at an address is verified as the given host, and the address is not cached for that host")
    func judgesAtAddress() throws {
        let origin = ScriptedOrigin(identity: authority.identity(names: "DNS:two.test")) { connection in
            #expect(connection.serverName == "two.test")
        }
        defer { origin.stop() }
        let harness = try harness()
        let listener = Listener()
        _ = harness.transport.judge(
            host: "two.test", inTunnelTo: Origin(scheme: .http, host: "127.0.0.1", port: origin.port), via: "", delegate: listener
        )
        harness.run { listener.result != nil }
        #expect(listener.result == .success(VettedServer(address: .loopbackIPv4)))
        #expect(harness.openTunnel(to: "two.test", port: origin.port).error == .nameNotResolved)
    }

    @Test("Through an upstream proxy, CONNECT names the address and the handshake names the host")
    func judgesAtAddressThroughProxy() throws {
        let identity = authority.identity(names: "DNS:two.test")
        let proxy = ScriptedOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            connection.speakTLS(as: identity) { #expect($0.serverName == "two.test") }
        }
        defer { proxy.stop() }
        let harness = try harness(proxy: proxy.port)
        let listener = Listener()
        _ = harness.transport.judge(
            host: "two.test", inTunnelTo: Origin(scheme: .http, host: "2001:db8::1", port: 443), via: "1.1 x", delegate: listener)
        harness.run { listener.result != nil }
        #expect(listener.result == .success(VettedServer(address: nil)))
        #expect(proxy.requestHeads.map { $0.hasPrefix("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n") } == [true])
    }

    @Test("A server that demands a client certificate is probed with the one for its host", arguments: [0x303, 0x304])
    func showsIdentity(version: Int32) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version, asksClients: true))
        defer { origin.stop() }
        let policies = try authority.policies()
        let files = authority.clientFiles()
        var identities = HostTable<ClientIdentity>()
        _ = identities.insert(
            try ClientIdentity(pem: files.certificate, key: files.key), for: try #require(HostScope(host: "one.test")))
        let harness = try TransportHarness { [identities] in
            $0.trust = policies
            $0.connect = connect()
            $0.identities = identities
            $0.resolve = ["one.test": [.loopbackIPv4]]
        }
        let recorder = harness.openTunnel(to: "one.test", port: origin.port)
        #expect(recorder.tunnelAddress == .loopbackIPv4)
        letGo(of: recorder)
        // For another host no certificate is sent; in TLS 1.2 the handshake then fails.
        let other = harness.openTunnel(to: "127.0.0.1", port: origin.port)
        #expect(version == 0x303 ? other.error == .identityMissing : other.tunnelDescriptor != nil)
        letGo(of: other)
    }

    @Test("A host denied in the settings is not connected to")
    func denies() throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let harness = try TransportHarness { $0.connect = ConnectPolicy(fallback: .deny) }
        #expect(harness.openTunnel(to: "127.0.0.1", port: origin.port).error == .connectDenied)
        #expect(origin.connectionCount == 0)
    }

    @Test("The number of cached verdicts is limited; the one that expires first is dropped first")
    func keepsSome() throws {
        let kept = TrustVerdictCache()
        let fingerprint = try authority.policy().fingerprint
        let start = MonotonicTime.read()
        func key(_ number: Int) -> TrustVerdictCache.Key {
            TrustVerdictCache.Key(fingerprint: fingerprint, host: "h\(number).test", port: 443, address: nil)
        }
        for number in 0...TrustVerdictCache.limit {
            kept.keep(
                VettedServer(address: .loopbackIPv4), for: key(number), until: start.advanced(milliseconds: 1000 + number),
                lastSecond: nil, at: start)
        }
        let now = POSIXTime(seconds: 0)
        let found = [0, 1, TrustVerdictCache.limit].map { kept.server(for: key($0), at: start, now) != nil }
        #expect(found == [false, true, true])
        #expect(kept.server(for: key(1), at: start.advanced(milliseconds: 1001), now) == nil)
    }
}
