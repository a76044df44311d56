import Glibc
import ProxyCore
import ServerTrust
import TestSupport
import Testing

@testable import ProxyServer

@Suite("Trust failures as text")
struct TrustRefusalTests {
    private static func failure(
        names: String = "DNS:one.test", from: Int = -7_200, until: Int = 3_600, pins: [SHA256Digest] = []
    ) throws -> TrustFailure {
        let authority = TestAuthority()
        let anchors = try TrustAnchors([try #require(Certificate(der: authority.der))])
        let pins = pins.isEmpty ? nil : try PinSet(.publicKey, pins.map(Pin.init(publicKeyDigest:)))
        let policy = try TrustPolicy(anchors: .given(anchors), pins: pins, source: "a/larder.yaml:3:1")
        let evidence = ServerEvidence(chain: [authority.identity(names: names, from: from, until: until).der])
        return try #require(throws: TrustFailure.self) {
            try policy.evaluate(evidence, host: "one.test", at: POSIXTime(seconds: Int64(time(nil))))
        }
    }

    @Test("Dates are reported in full, including those before 1970", arguments: [-3_000_000_000, -1_000_000, 1_000, 1_000_000])
    func dates(from: Int) throws {
        let failure = try Self.failure(from: from, until: from < 0 ? -1 : from + 1, pins: [])
        let refusal = TrustRefusal(failure, port: 443)
        let certificate = try #require(refusal.certificate)
        #expect(certificate.notBefore.wholeMatch(of: /(19|20)\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil, "\(certificate.notBefore)")
        #expect(refusal.advice.contains(failure.reason == .expired ? certificate.notAfter : certificate.notBefore))
        #expect(refusal.place == "larder.yaml:3:1")
    }

    @Test(
        "The advice for a rotation names the port, unless it is the usual one",
        arguments: [(443, "one.test"), (8443, "one.test:8443")])
    func namesThePort(port: UInt16, server: String) throws {
        let refusal = TrustRefusal(
            try Self.failure(pins: [try #require(SHA256Digest([UInt8](repeating: 1, count: 32)))]), port: port)
        #expect(refusal.advice.contains("run `larder pins rotate \(server) --add PIN`"), "\(refusal.advice)")
    }

    @Test("With many pins and names the error stays short, and reports how many are left out")
    func isBounded() throws {
        let digests = try (0..<100).map { number in
            try #require(SHA256Digest([UInt8](repeating: UInt8(number), count: 32)))
        }
        let names = ["DNS:one.test"] + (0..<300).map { "DNS:\(String(repeating: "\"<", count: 100))\($0).test" }
        let failure = try Self.failure(names: names.joined(separator: ","), pins: digests)
        #expect(failure.reason == .pinMismatch)
        let refusal = TrustRefusal(failure, port: 443)
        #expect(refusal.expected.texts.count == 16 && refusal.expected.more == 84)
        #expect(refusal.advice.contains("and 96 more"))
        let body = GatewayErrorBody(
            error: GatewayError(.untrustedServer(reason: refusal.reason)), requestID: 1, host: "one.test", trust: refusal)
        for format in [GatewayErrorBody.Format.json, .html, .text] {
            var bytes: [UInt8] = []
            body.write(format, into: &bytes)
            #expect(bytes.count < 48 * 1024)
        }
    }
}
