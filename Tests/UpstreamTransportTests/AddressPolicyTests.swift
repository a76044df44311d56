import HTTPMessage
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: addresses that the settings allow and deny (T03, T04)")
struct AddressPolicyTests {
    private let authority = TestAuthority()

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test(
        "An allowed address takes precedence over a denied one, and a denied one over private ones; our own listeners are never allowed"
    )
    func decidesInOrder() throws {
        let ten = try #require(AddressRange("10.0.0.0/8"))
        let allowed = try ["10.1.2.3:5432", "192.168.0.0/16", "10.9.9.9"].map { try #require(AllowedAddress($0)) }
        var policy = AddressPolicy(denied: [ten], allowed: allowed, deniesPrivate: true)
        let (database, other, home) = (try address("10.1.2.3"), try address("172.16.0.1"), try address("192.168.1.1"))
        #expect(policy.refusal(of: database, port: 5432) == nil)
        #expect(policy.refusal(of: database, port: 80) == .destinationProhibited(database))
        #expect(policy.refusal(of: other, port: 80) == .destinationPrivate(other))
        #expect(policy.refusal(of: home, port: 80) == nil)
        #expect(policy.refusal(of: try address("8.8.8.8"), port: 80) == nil)
        policy.own = OwnListeners([.init(address: home, port: 3180)])
        #expect(policy.refusal(of: home, port: 3180) == .ownListener)
        policy.deniesPrivate = false
        #expect(policy.refusal(of: other, port: 80) == nil)
    }

    @Test(
        "A private address is refused for every kind of connection, spelling and name",
        arguments: ["127.0.0.1", "127.1", "0.0.0.0", "localhost", "own.test", "two.test", "::1", "::ffff:127.0.0.1"])
    func refusesPrivate(host: String) throws {
        let origin = ScriptedOrigin { _ in }
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness {
            $0.addresses = AddressPolicy(denied: [], deniesPrivate: true)
            $0.resolve = ["own.test": [.loopbackIPv4], "two.test": [.loopbackIPv4, .loopbackIPv6]]
            $0.trust = policies
        }
        func isRefused(_ error: TransportError?) -> Bool { if case .destinationPrivate = error { true } else { false } }
        #expect(isRefused(harness.fetch(port: origin.port, host: host).error))
        // A spelling that no certificate can have is refused before.
        let secure = harness.fetch(.https, port: origin.port, host: host).error
        if case .untrusted = secure {} else { #expect(isRefused(secure)) }
        #expect(isRefused(harness.openTunnel(to: host, port: origin.port).error))
        harness.transport.prepare(Origin(scheme: .https, host: host, port: origin.port), via: "")
        #expect(harness.run { harness.transport.isQuiet })
        #expect(origin.connectionCount == 0)
    }

    @Test("A probe of a server at a private address makes no connection")
    func refusesProbes() throws {
        let origin = ScriptedOrigin { _ in }
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness {
            $0.addresses = AddressPolicy(denied: [], deniesPrivate: true)
            $0.resolve = ["own.test": [.loopbackIPv4]]
            $0.trust = policies
            $0.connect = ConnectPolicy(fallback: .probe)
        }
        #expect(harness.openTunnel(to: "own.test", port: origin.port).error == .destinationPrivate(.loopbackIPv4))
        #expect(origin.connectionCount == 0)
    }

    @Test("A name that has a private and an allowed address is reached by the allowed one")
    func usesAllowed() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { origin.stop() }
        let harness = try TransportHarness {
            $0.addresses = AddressPolicy(
                denied: [], allowed: [AllowedAddress("127.0.0.1:\(origin.port)")].compactMap { $0 }, deniesPrivate: true)
            $0.resolve = ["own.test": [.loopbackIPv6, .loopbackIPv4]]
        }
        #expect(harness.fetch(port: origin.port, host: "own.test").metrics.remoteAddress == .loopbackIPv4)
    }

    @Test("An upstream proxy may have a private address; URLs with a private address are refused, and names are not")
    func reachesProxy() throws {
        let proxy = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond() }
        }
        defer { proxy.stop() }
        let harness = try TransportHarness {
            $0.addresses = AddressPolicy(denied: [], deniesPrivate: true)
            $0.proxy = UpstreamProxy(host: "127.0.0.1", port: proxy.port)
        }
        #expect(harness.fetch(port: 80, host: "a.test").isComplete)
        #expect(harness.fetch(port: 80, host: "10.0.0.1").error == .destinationPrivate(try address("10.0.0.1")))
        #expect(harness.openTunnel(to: "10.0.0.1", port: 443).error == .destinationPrivate(try address("10.0.0.1")))
    }
}
