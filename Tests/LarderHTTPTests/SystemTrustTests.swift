import ServerTrust
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: the system's root certificates with pins")
struct SystemTrustTests {
    private let authority = TestAuthority()

    @Test("Only the hosts with pins get them, by name or pattern; every policy has the system's root certificates")
    func pinsHosts() throws {
        let (first, second) = try (authority.identity().pins(), authority.identity().pins())
        let trust = try SessionTrust.system(pins: ["api.example.com": first, "*.example.org": second])
        let policies = try #require(try trust.policies())
        for (host, pins) in [
            ("api.example.com", first), ("example.com", nil), ("www.example.org", second), ("a.www.example.org", nil),
            ("example.org", nil),
        ] as [(String, PinSet?)] {
            let policy = try #require(policies.policy(host: host, port: 443))
            #expect(policy.pins?.pins == pins?.pins, "\(host)")
            #expect(TrustAnchors.systemBundles.contains(policy.source))
        }
        #expect(try TrustPolicy.system(pins: first).pins?.pins == first.pins)
        #expect(try TrustPolicy.system().pins == nil)
    }

    @Test("A host that is no name and no pattern is an error", arguments: ["", "a b", "*", "*.*.example.com"])
    func refusesHosts(host: String) throws {
        let pins = try authority.identity().pins()
        let error = try #require(throws: SessionError.self) { try SessionTrust.system(pins: [host: pins]) }
        #expect(error.code == .trustRejected && error.description.contains("pins"))
    }

    @Test("Pins do not replace the root certificates: a server of another CA with a pinned key is rejected")
    func needsBoth() async throws {
        let identity = authority.identity()
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        var configuration = SessionConfiguration()
        configuration.retries = .never
        let session = try HTTPSession(configuration: configuration, trust: .system(pins: ["127.0.0.1": identity.pins()]))
        let error = try await HTTPSession.failure { try await session.get("https://127.0.0.1:\(origin.port)/") }
        #expect(error.code == .trustRejected)
        #expect(error.trust?.reason.rawValue == "incomplete_chain")
        // Pinned hosts are not contacted in plain text.
        let plain = try await HTTPSession.failure { try await session.get("http://127.0.0.1:\(origin.port)/") }
        #expect(plain.code == .plaintextToPinnedHost)
    }
}
