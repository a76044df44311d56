import Glibc
import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: permitted destinations and the egress gate (T03, T04, T47, T48)")
struct EgressTests {
    @Test(
        "T03: link-local and metadata addresses are refused in every spelling",
        arguments: [
            "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "169.254.169.254.",
            "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::169.254.169.254", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::1",
            "fe80::1", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "fd00:c1::a9fe:a9fe", "fd00:42::42",
        ])
    func linkLocal(host: String) throws {
        let harness = try TransportHarness()
        let exchange = harness.fetch(port: 80, host: host)
        guard case .destinationProhibited = exchange.error else {
            Issue.record("\(host): \(String(describing: exchange.error))")
            return
        }
        guard case .destinationProhibited = harness.openTunnel(to: host, port: 80).error else {
            Issue.record("tunnel to \(host)")
            return
        }
    }

    @Test("T04: a name is refused if its address is forbidden; if it also has a permitted one, that one is used")
    func judgedAfterLookUp() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let forbidden = try #require(IPAddress("169.254.169.254"))
        let harness = try TransportHarness {
            $0.resolve = ["bad.test": [forbidden], "mixed.test": [forbidden, .loopbackIPv4]]
        }
        #expect(harness.fetch(port: origin.port, host: "bad.test").error == .destinationProhibited(forbidden))
        #expect(harness.openTunnel(to: "bad.test", port: origin.port).error == .destinationProhibited(forbidden))
        let mixed = harness.fetch(port: origin.port, host: "mixed.test")
        #expect(mixed.isComplete)
        #expect(mixed.metrics.remoteAddress == .loopbackIPv4)
    }

    @Test(
        "An address range denied in the settings is refused, also for names that resolve to it",
        arguments: ["localhost", "127.0.0.1", "127.1", "0.0.0.0"])
    func configured(host: String) throws {
        let origin = ScriptedOrigin { _ in }
        defer { origin.stop() }
        let denied = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }
        let harness = try TransportHarness { $0.addresses = AddressPolicy(denied: denied) }
        guard case .destinationProhibited = harness.fetch(port: origin.port, host: host).error else {
            Issue.record("\(host) was let through")
            return
        }
        #expect(origin.connectionCount == 0)
    }

    @Test(
        "A host with other URL parts in it never reaches libcurl",
        arguments: ["", "a@b", "a/b", "a#b", "a?b", "a b", "[::1]", "a%2eb", "fe80::1%lo"])
    func plainHosts(host: String) throws {
        let harness = try TransportHarness()
        #expect(harness.fetch(port: 80, host: host).error == .malformedHost)
        #expect(harness.openTunnel(to: host, port: 80).error == .malformedHost)
    }

    @Test("A closed gate stops all requests, even on pooled connections, until it opens again")
    func gate() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let gate = EgressGate()
        let harness = try TransportHarness { $0.gate = gate }
        #expect(harness.fetch(port: origin.port).isComplete)
        gate.set(.openToThisMachine)
        #expect(harness.fetch(port: origin.port).isComplete)
        #expect(harness.openTunnel(to: "nowhere.invalid", port: origin.port).error == .egressClosed)
        gate.set(.closed)
        #expect(harness.fetch(port: origin.port).error == .egressClosed)
        #expect(harness.openTunnel(to: "127.0.0.1", port: origin.port).error == .egressClosed)
        gate.set(.open)
        #expect(harness.fetch(port: origin.port).isComplete)
        #expect(origin.connectionCount == 1)
    }

    @Test("T47: the proxy variables in the process's environment are ignored")
    func environment() async {
        await #expect(processExitsWith: .success) {
            let proxy = ScriptedOrigin { connection in
                _ = connection.readHead()
                connection.respond("502 Bad Gateway")
            }
            for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:\(proxy.port)", 1)
            }
            let origin = ScriptedOrigin { connection in
                _ = connection.readHead()
                connection.respond()
            }
            defer {
                origin.stop()
                proxy.stop()
            }
            let harness = try TransportHarness()
            #expect(harness.fetch(port: origin.port).status == 200)
            let tunnel = harness.openTunnel(to: "127.0.0.1", port: origin.port)
            #expect(tunnel.tunnelDescriptor != nil)
            #expect(proxy.connectionCount == 0)
        }
    }

    @Test("A name that does not exist and a port without a listener each have an error of their own")
    func unreachable() throws {
        let harness = try TransportHarness()
        #expect(harness.fetch(port: 80, host: "no-such-name.invalid").error == .nameNotResolved)
        #expect(harness.fetch(port: LoopbackAddress.unusedPort).error == .connectionRefused)
        #expect(harness.openTunnel(to: "127.0.0.1", port: LoopbackAddress.unusedPort).error == .connectionRefused)
        #expect(harness.budgets.statistics.connections == 0)
    }

    @Test("Happy eyeballs: an IPv6 address that does not answer does not delay the IPv4 one")
    func happyEyeballs() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let hole = BlackHole(ipv6: true, port: origin.port)
        let harness = try TransportHarness { $0.resolve = ["two.test": [.loopbackIPv6, .loopbackIPv4]] }
        let recorder = harness.fetch(port: hole.port, host: "two.test")
        #expect(recorder.isComplete)
        #expect(recorder.metrics.remoteAddress == .loopbackIPv4)
        #expect(recorder.metrics.connectTime < 4_500_000)
    }

    @Test("If an address does not answer, half of the time remains for the next one of its family")
    func nextOfTheFamily() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let hole = BlackHole(host: 2, port: origin.port)
        let harness = try TransportHarness {
            $0.resolve = ["two.test": [IPAddress(ipv4: 0x7F00_0002), .loopbackIPv4]]
            $0.timeouts.connect = 1500
        }
        for _ in 0..<3 {
            let recorder = harness.fetch(port: hole.port, host: "two.test")
            #expect(recorder.isComplete)
            #expect(recorder.metrics.remoteAddress == .loopbackIPv4)
            harness.transport.closeIdleConnections()
        }
    }

    @Test("Waiting for a slot to resolve a name ends after the connect timeout")
    func boundsLookUps() throws {
        let harness = try TransportHarness {
            $0.resolve = ["two.test": [.loopbackIPv4, .loopbackIPv6]]
            $0.lookUps = 0
        }
        var short = UpstreamTimeouts()
        short.connect = 300
        let recorder = Recorder()
        _ = harness.open(recorder, port: 80, host: "two.test", timeouts: short)
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.error == .timedOut(.nameLookUp))
    }

    @Test("An IPv6 origin is reached by its address")
    func ipv6() throws {
        let origin = ScriptedOrigin(ipv6: true) { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = harness.fetch(port: origin.port, host: "::1")
        #expect(recorder.isComplete)
        #expect(recorder.metrics.remoteAddress == .loopbackIPv6)
    }
}
