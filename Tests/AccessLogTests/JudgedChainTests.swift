import Foundation
import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import AccessLog

@Suite("The certificate chain of a verified server in the access log")
struct JudgedChainTests {
    private let authority = TestAuthority(name: "Root \"of\\a test\u{1}")

    private func chain(_ names: String = "DNS:one.test") throws -> [Certificate] {
        try [authority.identity(names: names).der, authority.der].map { try #require(Certificate(der: $0)) }
    }

    private func line(_ member: [UInt8], as format: AccessLog.Format = .ndjson) -> String {
        var lines = AccessLines()
        let none = Span<UInt8>()
        let texts = AccessTexts(
            method: none, url: none, referrer: none, userAgent: none, contentType: none, rule: none, serverKey: none,
            members: member.span)
        lines.append(AccessLogFormatTests.example, texts, as: format)
        return String(decoding: lines.bytes, as: UTF8.self)
    }

    @Test("The member has host and port, and for each certificate its key, expiry and subject, the server's first")
    func writes() throws {
        let chain = try chain()
        let text = line(JudgedChain.member(host: Array("one.test".utf8), port: 8443, chain: chain))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let tls = try #require(object["tls"] as? [String: Any])
        #expect(tls["host"] as? String == "one.test:8443")
        let links = try #require(tls["chain"] as? [[String: String]])
        #expect(links.map { $0["key"] } == chain.map { "\($0.publicKeyDigest)" })
        #expect(links.map { $0["until"] } == chain.map { $0.notAfter?.rfc3339 })
        // As shown to users: controls are escaped once more for JSON.
        #expect(links.map { $0["subject"] } == chain.map(\.facts.subject))
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        #expect(object["bytes"] != nil)
        let address = line(JudgedChain.member(host: Array("2001:db8::1".utf8), port: 443, chain: chain))
        #expect(address.contains(#""host":"[2001:db8::1]:443""#))
    }

    @Test("The longest member stays within its limit, and its line within the limit for lines")
    func isBounded() throws {
        let host = Array(repeating: UInt8(1), count: 4000)
        let longName = TestAuthority(name: String(repeating: "\"", count: 64))
        let certificate = try #require(Certificate(der: longName.der))
        let member = JudgedChain.member(host: host, port: 65_535, chain: Array(repeating: certificate, count: 200))
        #expect(member.count <= JudgedChain.Limit.member)
        let object = try JSONSerialization.jsonObject(with: Data(line(member).utf8)) as? [String: Any]
        #expect(((object?["tls"] as? [String: Any])?["chain"] as? [Any])?.count == TrustVerdict.chainLimit)
    }

    @Test("Formats without this member omit it", arguments: [AccessLog.Format.squid, .combined])
    func leavesOut(format: AccessLog.Format) throws {
        let member = JudgedChain.member(host: Array("one.test".utf8), port: 443, chain: try chain())
        #expect(line(member, as: format) == line([], as: format))
    }
}
