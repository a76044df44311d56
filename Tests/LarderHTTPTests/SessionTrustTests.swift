import ServerTrust
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: trust")
struct SessionTrustTests {
    private let authority = TestAuthority()

    private func session(
        _ trust: TrustPolicySet, _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = SessionConfiguration()
        configuration.retries.delay = .milliseconds(1)
        change(&configuration)
        return try HTTPSession(configuration: configuration, trust: .policies(trust))
    }

    @Test("A server with a valid chain is trusted; the handshake time is measured")
    func believes() async throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let session = try session(authority.policies())
        let response = try await session.send(SessionRequest(.get, "https://127.0.0.1:\(origin.port)/a"))
        #expect(response.text == "/a")
        #expect(response.metrics.exchanges[0].handshake > .zero)
        let second = try await session.send(SessionRequest(.get, "https://127.0.0.1:\(origin.port)/b"))
        #expect(second.metrics.exchanges[0].handshake == .zero)
    }

    @Test(
        "A server that is not trusted receives no request and is not retried; the error says why",
        arguments: ["untrusted_root", "expired", "host_mismatch", "pin_mismatch"])
    func refuses(reason: String) async throws {
        let other = TestAuthority(name: "Another")
        let identity =
            switch reason {
            case "untrusted_root": TestAuthority.selfSignedIdentity()
            case "expired": authority.identity(until: -3600)
            case "host_mismatch": authority.identity(names: "DNS:other.test")
            default: authority.identity()
            }
        let pins = reason == "pin_mismatch" ? try other.identity().pins() : nil
        let origin = ScriptedOrigin.secure(identity)
        let session = try session(authority.policies(pins: pins))
        let error = try await HTTPSession.failure {
            try await session.send(SessionRequest(.get, "https://127.0.0.1:\(origin.port)/secret"))
        }
        origin.stop()
        #expect(error.code == .trustRejected)
        #expect(error.trust?.reason.rawValue == reason)
        #expect(origin.connectionCount == 1)
        #expect(origin.requestHeads.isEmpty)
    }

    @Test("A redirect to a host with a wrong pin fails there; pinned hosts are not contacted in plain text")
    func judgesEachHop() async throws {
        let second = ScriptedOrigin.secure(authority.identity(names: "DNS:two.test"))
        let port = second.port
        let first = ScriptedOrigin(identity: authority.identity()) { connection in
            while connection.readHead() != nil {
                connection.respond("302 Found", fields: "Location: https://two.test:\(port)/\r\n")
            }
        }
        defer { first.stop() }
        let pinned = try authority.policy(pins: TestAuthority(name: "Another").identity().pins())
        let trust = try TrustPolicySet([.init(host: "two.test", policy: pinned)], fallback: .policy(authority.policy()))
        let session = try session(trust) { $0.resolve = ["two.test": ["127.0.0.1"]] }
        let error = try await HTTPSession.failure {
            try await session.send(SessionRequest(.get, "https://127.0.0.1:\(first.port)/"))
        }
        #expect(error.trust?.reason == .pinMismatch)
        let plain = try await HTTPSession.failure { try await session.send(SessionRequest(.get, "http://two.test:\(port)/")) }
        second.stop()
        #expect(plain.code == .plaintextToPinnedHost)
        #expect(second.requestHeads.isEmpty)
    }

    @Test(
        "A missing pin that is only reported is an event of each exchange, before its end; the metrics have the verdict")
    func reportsPins() async throws {
        let origin = ScriptedOrigin.secure(authority.identity())
        defer { origin.stop() }
        let uri = "https://127.0.0.1:\(origin.port)/a"
        let other = try #require(Certificate(der: TestAuthority(name: "Another").identity().der))
        let later = POSIXTime(seconds: 1 << 40)
        for enforcement in [PinSet.Enforcement.reported, .enforcedFrom(later)] {
            let monitor = EventStream()
            let pins = try PinSet(.publicKey, [Pin(certificate: other)], enforcement: enforcement)
            let session = try session(authority.policies(pins: pins)) { $0.monitors = [monitor] }
            for isReused in [false, true] {
                let exchange = try #require(try await session.send(SessionRequest(.get, uri)).metrics.exchanges.first)
                #expect(exchange.isConnectionReused == isReused)
                #expect(exchange.trust?.reported?.reason == .pinMismatch)
                #expect(exchange.trust?.reported?.expectedDigests == [other.publicKeyDigest])
                #expect(exchange.trust?.chain.count == 2)
            }
            monitor.finish()
            var told: [String] = []
            for await event in monitor.events {
                switch event.kind {
                case .pinMismatchReported(let target, let failure):
                    #expect(target.description == uri)
                    told.append(failure.reason.rawValue)
                case .exchangeEnded: told.append("ended")
                default: break
                }
            }
            #expect(told == ["pin_mismatch", "ended", "pin_mismatch", "ended"])
        }
    }

    @Test("A server with a matching report-only pin, and a server without TLS, report nothing")
    func reportsOnlyMissingPins() async throws {
        let identity = authority.identity()
        let (secure, plain) = (ScriptedOrigin.secure(identity), ScriptedOrigin.answering { _, to in to.respond(body: "a") })
        defer {
            secure.stop()
            plain.stop()
        }
        let monitor = EventStream()
        let pin = Pin(certificate: try #require(Certificate(der: identity.der)))
        let pins = try PinSet(.publicKey, [pin], enforcement: .reported)
        let policies = try TrustPolicySet(
            [.init(host: "one.test", policy: authority.policy(pins: pins))], fallback: .policy(authority.policy()))
        let session = try session(policies) {
            $0.monitors = [monitor]
            $0.resolve = ["one.test": ["127.0.0.1"]]
        }
        let exchange = try await session.send(SessionRequest(.get, "https://one.test:\(secure.port)/")).metrics.exchanges[0]
        #expect(exchange.trust?.matchedPin == pin && exchange.trust?.reported == nil)
        #expect(try await session.send(SessionRequest(.get, plain.uri())).metrics.exchanges[0].trust == nil)
        monitor.finish()
        for await event in monitor.events {
            if case .pinMismatchReported = event.kind { Issue.record("a pin that is there was reported as missing") }
        }
    }

    @Test("A policy set that denies unknown hosts makes no connection")
    func denies() async throws {
        let error = try await HTTPSession.failure {
            try await HTTPSession.plain().send(SessionRequest(.get, "https://127.0.0.1:9/"))
        }
        #expect(error.code == .hostNotAllowed)
    }

    @Test("An origin that requests a client certificate gets the one for it; without one the error says so")
    func showsIdentity() async throws {
        let origin = ScriptedOrigin.secure(authority.identity(asksClients: true))
        defer { origin.stop() }
        let files = authority.clientFiles()
        let identity = try ClientIdentity(pem: files.certificate, key: files.key)
        let uri = "https://127.0.0.1:\(origin.port)/"
        let known = try session(authority.policies()) { $0.identities = [SessionIdentity(host: "127.0.0.1", identity: identity)] }
        #expect(try await known.send(SessionRequest(.get, uri)).status == 200)
        let unknown = try session(authority.policies())
        let error = try await HTTPSession.failure { try await unknown.send(SessionRequest(.get, uri)) }
        #expect(error.code == .clientCertificateRequired)
    }

    @Test("The system's trust anchors are found and read")
    func readsSystem() throws {
        #expect(throws: Never.self) { try SessionTrust.system.policies() }
    }
}
