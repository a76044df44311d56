import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: client certificates")
struct ClientCertificateTests {
    private let authority = TestAuthority()

    @Test("A server that asks for a client certificate gets the one set for its host", arguments: [0x303, 0x304])
    func shown(version: Int32) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version, asksClients: true))
        defer { origin.stop() }
        let harness = try harness(for: "127.0.0.1", port: origin.port)
        let recorder = harness.fetch(.https, port: origin.port, path: "/a")
        #expect(recorder.isComplete)
        #expect(recorder.text == "/a")
    }

    @Test(
        "Without a client certificate for that host and port, the error says that it is missing",
        arguments: [0x303, 0x304], [nil, "127.0.0.1:1", "one.test"])
    func missing(version: Int32, other: String?) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version, asksClients: true))
        let harness =
            switch other {
            case "one.test": try harness(for: "one.test", port: nil)
            case nil: try harness(for: nil, port: nil)
            default: try harness(for: "127.0.0.1", port: 1)
            }
        #expect(harness.fetch(.https, port: origin.port).error == .identityMissing)
        origin.stop()
        #expect(origin.requestHeads.isEmpty)
    }

    @Test("A server that rejects the client certificate gives its TLS alert as the error", arguments: [0x303, 0x304])
    func refused(version: Int32) throws {
        let origin = ScriptedOrigin.secure(authority.identity(version: version, asksClients: true))
        defer { origin.stop() }
        let harness = try harness(for: "127.0.0.1", port: nil, certifiedBy: TestAuthority(name: "Another"))
        #expect(harness.fetch(.https, port: origin.port).error == .tlsAlert(TLSAlert(48)))
    }

    @Test("A server that is not trusted never receives the client certificate", arguments: [0x303, 0x304])
    func unbelieved(version: Int32) throws {
        let other = TestAuthority(name: "Another")
        let origin = ScriptedOrigin.secure(other.identity(version: version, asksClients: true))
        let harness = try harness(for: "127.0.0.1", port: nil)
        guard case .untrusted = harness.fetch(.https, port: origin.port).error else {
            origin.stop()
            Issue.record("it was believed")
            return
        }
        origin.stop()
        #expect(origin.failedHandshakeCount == 1)
    }

    private func harness(for host: String?, port: UInt16?, certifiedBy other: TestAuthority? = nil) throws -> TransportHarness {
        let policies = try authority.policies()
        var identities = HostTable<ClientIdentity>()
        if let host {
            let files = (other ?? authority).clientFiles()
            let scope = try #require(HostScope(host: host, port: port))
            _ = identities.insert(try ClientIdentity(pem: files.certificate, key: files.key), for: scope)
        }
        return try TransportHarness { [identities] in
            $0.trust = policies
            $0.identities = identities
        }
    }
}
