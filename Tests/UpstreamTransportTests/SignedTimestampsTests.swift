import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Signed certificate timestamps in the handshake (RFC 6962 §3.3.1)")
struct SignedTimestampsTests {
    private let authority = TestAuthority()

    /// A list of `count` timestamps as a server sends it. Each has version 1, a log, a time, no extensions and a signature
    /// (ECDSA over SHA-256).
    private static func list(_ count: Int) -> [UInt8] {
        func counted(_ octets: [UInt8]) -> [UInt8] { [UInt8(octets.count >> 8), UInt8(octets.count & 255)] + octets }
        let timestamps = (0..<count).flatMap { number -> [UInt8] in
            let log = [UInt8](repeating: UInt8(number), count: 32)
            return counted([0] + log + [0, 0, 1, 0x80, 0, 0, 0, 0] + [0, 0, 4, 3] + counted([0x30, 6, 2, 1, 1, 2, 1, 1]))
        }
        return counted(timestamps)
    }

    private func harness(audits: Bool) throws -> TransportHarness {
        let anchors = try TrustAnchors([try #require(Certificate(der: authority.der))])
        let policy = try TrustPolicy(anchors: .given(anchors), auditsSignedTimestamps: audits)
        let policies = try TrustPolicySet([], fallback: .policy(policy))
        return try TransportHarness { $0.trust = policies }
    }

    private func verdict(_ identity: TLSIdentity, audits: Bool) throws -> TrustVerdict {
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        let harness = try harness(audits: audits)
        var result: Result<TrustVerdict, TransportError>?
        harness.transport.judgeServer(of: Origin(scheme: .https, host: "127.0.0.1", port: origin.port)) { result = $0 }
        harness.run { result != nil }
        return try #require(result).get()
    }

    @Test("If the policy audits timestamps, the server's are counted", arguments: [0x303, 0x304], [0, 1, 3])
    func counts(version: Int32, count: Int) throws {
        let identity = authority.identity(version: version, timestamps: count == 0 ? nil : Self.list(count))
        #expect(try verdict(identity, audits: true).signedTimestampCount == count)
        #expect(try verdict(identity, audits: false).signedTimestampCount == nil)
    }

    @Test("A malformed list counts as zero timestamps, and the server is still trusted", arguments: [0x303, 0x304])
    func malformed(version: Int32) throws {
        #expect(try verdict(authority.identity(version: version, timestamps: [0, 9, 1]), audits: true).signedTimestampCount == 0)
    }

    @Test("The timestamps are kept in the record of the server's evidence")
    func areKept() throws {
        let origin = ScriptedOrigin.secure(authority.identity(timestamps: Self.list(2)))
        defer { origin.stop() }
        let harness = try harness(audits: true)
        let recorder = Recorder()
        var record: [UInt8]?
        recorder.onHead = { record = $0.recordedChain?.octets }
        _ = harness.open(recorder, scheme: .https, port: origin.port)
        harness.run { recorder.hasEnded }
        let kept = try #require(record)
        let evidence = try #require(ServerEvidence(record: kept))
        #expect(evidence.signedTimestamps == Self.list(2))
        #expect(evidence.certificates.count == 1 && evidence.tlsVersion == .tls13)
    }
}
