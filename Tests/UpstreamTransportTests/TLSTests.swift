import EventLoop
import Glibc
import HTTPMessage
import HTTPWire
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: TLS to the origin")
struct TLSTests {
    let authority = TestAuthority()

    @Test(
        "With a trusted chain the exchange succeeds, and the second one uses the same connection",
        arguments: [0x303, 0x304])
    func believed(version: Int32) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version))
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness { $0.trust = policies }
        for target in ["/a", "/b?c"] {
            let recorder = harness.fetch(.https, port: origin.port, path: target)
            #expect(recorder.isComplete)
            #expect(recorder.text == target)
            #expect(recorder.metrics.remoteAddress == .loopbackIPv4)
            // Session tickets, which TLS 1.3 sends after the handshake, must not remove a connection from the pool.
            for _ in 0..<3 { harness.loop.turn(waitingAtMost: 1) }
            #expect(harness.transport.statistics.idle == 1)
        }
        #expect(origin.connectionCount == 1)
        #expect(origin.requestHeads.count == 2)
    }

    @Test("TLS secrets are passed to the configured function", arguments: [0x303, 0x304])
    func keys(version: Int32) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version))
        defer { origin.stop() }
        let policies = try authority.policies()
        let lines = Guarded<[String]>([])
        let harness = try TransportHarness {
            $0.trust = policies
            $0.writeKeys = { line in lines.withLock { $0.append(String(cString: line)) } }
        }
        #expect(harness.fetch(.https, port: origin.port).isComplete)
        let label = version == 0x303 ? "CLIENT_RANDOM " : "SERVER_TRAFFIC_SECRET_0 "
        #expect(lines.withLock { $0 }.contains { $0.hasPrefix(label) })
    }

    @Test("Session tickets are ignored, up to a limit")
    func tickets() throws {
        let policies = try authority.policies()
        for (count, isBearable) in [(40, true), (HandshakeJudge.laterMessageLimit + 1, false)] {
            let origin = ScriptedOrigin.secure(authority.identity(ticketCount: count))
            defer { origin.stop() }
            let harness = try TransportHarness { $0.trust = policies }
            let recorder = harness.fetch(.https, port: origin.port, path: "/a")
            #expect(recorder.isComplete == isBearable)
            if isBearable { #expect(harness.fetch(.https, port: origin.port, path: "/b").isComplete) }
            #expect(origin.connectionCount == 1)
        }
    }

    enum Fault: String, CaseIterable {
        case otherHost, expired, selfSigned, otherAuthority, otherPin, oldVersion, noStaple
    }

    @Test("T30, T32: a server that is not trusted gets no request; the error names the reason", arguments: Fault.allCases)
    func refused(fault: Fault) throws {
        var identity = authority.identity()
        var policies = try authority.policies()
        let expected: TrustFailure.Reason
        switch fault {
        case .otherHost: (identity, expected) = (authority.identity(names: "DNS:two.test"), .hostMismatch)
        case .expired: (identity, expected) = (authority.identity(until: -60), .expired)
        case .selfSigned: (identity, expected) = (TestAuthority.selfSignedIdentity(), .untrustedRoot)
        case .otherAuthority: (identity, expected) = (TestAuthority(name: "Another").identity(), .incompleteChain)
        case .otherPin:
            policies = try authority.policies(pins: authority.identity().pins())
            expected = .pinMismatch
        case .oldVersion:
            identity = authority.identity(version: 0x303)
            policies = try authority.policies(minimumTLSVersion: .tls13)
            expected = .weakProtocol
        case .noStaple:
            policies = try authority.policies(revocation: Revocation(stapleCheck: .hard))
            expected = .revocationUnknown
        }
        let origin = ScriptedOrigin.secure(identity)
        let harness = try TransportHarness { $0.trust = policies }
        let recorder = harness.fetch(.https, port: origin.port)
        guard case .untrusted(let failure) = recorder.error else {
            origin.stop()
            Issue.record("\(String(describing: recorder.error))")
            return
        }
        #expect(failure.reason == expected)
        #expect(recorder.error?.reason.description == expected.rawValue)
        #expect(harness.transport.statistics.connections == 0)
        #expect(harness.budgets.statistics.connections == 0)
        origin.stop()
        #expect(origin.requestHeads.isEmpty)
        #expect(origin.connectionCount == 1)
        #expect(origin.failedHandshakeCount == 1)
    }

    @Test("With a soft staple check, a server without a stapled response is accepted", arguments: [0x303, 0x304])
    func softStaple(version: Int32) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version))
        defer { origin.stop() }
        let policies = try authority.policies(revocation: Revocation(stapleCheck: .soft))
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).isComplete)
    }

    @Test("With a hard staple check, a missing response is refused in TLS 1.2, too, where it comes after the certificates")
    func hardStapleInOldVersion() throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: 0x303))
        defer { origin.stop() }
        let policies = try authority.policies(revocation: Revocation(stapleCheck: .hard))
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).error?.reason.description == "revocation_unknown")
        #expect(origin.requestHeads.isEmpty)
    }

    @Test("The handshake names the host (RFC 6066 §3), but not an address")
    func serverName() throws {
        let origin = ScriptedOrigin(identity: authority.identity()) { connection in
            _ = connection.readHead()
            connection.respond(body: connection.serverName ?? "none")
        }
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness {
            $0.trust = policies
            $0.resolve = ["one.test": [.loopbackIPv4]]
        }
        #expect(harness.fetch(.https, port: origin.port, host: "one.test").text == "one.test")
        #expect(harness.fetch(.https, port: origin.port).text == "none")
    }

    @Test("T31: TLS 1.0 and 1.1 are refused", arguments: [0x301, 0x302])
    func oldVersions(version: Int32) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version))
        let policies = try authority.policies()
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).error == .tlsAlert(TLSAlert(70)))
        origin.stop()
        #expect(origin.requestHeads.isEmpty)
    }

    @Test("A server that does not speak TLS fails the handshake")
    func plainServer() throws {
        let origin = ScriptedOrigin { connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")
            _ = connection.readToEnd()
        }
        defer { origin.stop() }
        let policies = try authority.policies()
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).error == .tlsFailed)
    }

    @Test("Without trust anchors, or for a host without a policy, no connection is opened")
    func nothingToJudgeBy() throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        #expect(try TransportHarness().fetch(.https, port: origin.port).error == .noTrustAnchors)
        let policies = try TrustPolicySet([.init(host: "one.test", policy: authority.policy())], fallback: .deny)
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).error?.reason.description == "host_not_allowed")
        #expect(origin.connectionCount == 0)
    }

    @Test("T33: a pooled connection is not used after its pins have expired")
    func pinsRunOut() throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        let end = POSIXTime(seconds: Int64(time(nil)) + 60)
        let policies = try authority.policies(pins: identity.pins(expires: end))
        let harness = try TransportHarness { $0.trust = policies }
        #expect(harness.fetch(.https, port: origin.port).isComplete)
        #expect(harness.fetch(.https, port: origin.port).metrics.isConnectionReused)
        harness.loop.advanceWallClock(milliseconds: 120_000)
        #expect(harness.fetch(.https, port: origin.port).error?.reason.description == "empty_pins")
        #expect(origin.connectionCount == 2)
        #expect(harness.transport.statistics.connections == 0)
    }

    @Test("T33: connections verified under different policies are pooled separately")
    func poolKeys() throws {
        let origin = Origin(scheme: .https, host: "one.test", port: 443)
        let one = try authority.policy()
        let other = try authority.policy(pins: authority.identity().pins())
        let again = try authority.policy()
        func key(_ policy: TrustPolicy) -> PoolKey {
            PoolKey(secure: origin, through: nil, trustFingerprint: policy.fingerprint)
        }
        #expect(key(one) == key(again))
        #expect(key(one) != key(other))
        #expect(key(one) != PoolKey(direct: Origin(scheme: .http, host: "one.test", port: 443)))
    }

    @Test("T47, T48: `SSLKEYLOGFILE` in the environment does not cause TLS keys to be logged")
    func keyLog() async {
        await #expect(processExitsWith: .success) {
            let path = "/tmp/larder-key-log-\(getpid())"
            setenv("SSLKEYLOGFILE", path, 1)
            defer { unlink(path) }
            let authority = TestAuthority()
            let origin = ScriptedOrigin.secure(authority.identity())
            let policies = try authority.policies()
            let harness = try TransportHarness { $0.trust = policies }
            guard harness.fetch(.https, port: origin.port).isComplete else { exit(1) }
            var facts = stat()
            let isEmpty = stat(path, &facts) != 0 || facts.st_size == 0
            origin.stop()
            exit(isEmpty ? 0 : 2)
        }
    }
}
