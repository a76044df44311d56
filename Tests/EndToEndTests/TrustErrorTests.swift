import Foundation
import ServerTrust
import TestSupport
import Testing

@Suite("Errors about an untrusted server (T41)")
struct TrustErrorTests {
    private static func told(_ response: ReceivedResponse) throws -> [String: Any] {
        try #require(try response.json["tls"] as? [String: Any])
    }

    @Test(
        "A wrong key: the response and the log have the server's key, the response also the expected pin, the policy and advice")
    func wrongKey() throws {
        let other = TestAuthority().identity()
        let pins = try SecureStage.pins(other)
        let stage = try SecureStage(pins: pins) { _, connection in connection.respond(body: "x") }
        let response = try stage.fetch("/")
        #expect(response.status == 502 && response.code == "certificate_not_trusted")
        let key = try #require(Certificate(der: stage.identity.der)).publicKeyDigest.description
        let expected = pins.pins[0].publicKeyDigest.description
        let told = try Self.told(response)
        #expect(told["reason"] as? String == "pin_mismatch")
        #expect(told["host"] as? String == "127.0.0.1")
        #expect(told["policy"] as? String == "larder.yaml:14:5")
        #expect(told["server_key"] as? String == key)
        #expect(told["expected"] as? [String] == [expected])
        #expect((told["seen"] as? [String])?.first == key)
        let certificate = try #require(told["certificate"] as? [String: Any])
        #expect(certificate["position"] as? Int == 0)
        #expect(certificate["subject"] as? String == "CN=server")
        #expect(certificate["issuer"] as? String == "CN=Root of a test")
        #expect(certificate["names"] as? [String] == ["one.test", "127.0.0.1"])
        #expect((certificate["not_after"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        #expect(certificate["serial"] as? String == "02")
        #expect(certificate["key"] as? String == key)
        #expect(
            told["advice"] as? String
                == "The server's key is \(key); the settings (larder.yaml:14:5) expect \(expected). If this is a "
                + "planned rotation, run `larder pins rotate 127.0.0.1:\(stage.origin.port) --add PIN`; otherwise, change nothing: "
                + "someone may be intercepting the connection."
        )
        #expect(stage.origin.requestHeads.isEmpty)
        let line = try #require(try stage.proxy.logLines().first)
        let rest = #""error":"certificate_not_trusted","detail":"pin_mismatch","server_key":"# + "\"\(key)\""
        #expect(line.contains(rest), "\(line)")
    }

    @Test(
        "The text of a certificate is escaped in every format", arguments: ["application/json", "text/html", "text/plain"])
    func hostileNames(type: String) throws {
        let stage = try SecureStage(names: "DNS:<script>alert(1)</script>\\\"&") { _, connection in connection.respond(body: "x")
        }
        let response = try stage.fetch("/", fields: "Accept: \(type)\r\n")
        #expect(response.status == 502 && response.text.contains("host_mismatch"))
        switch type {
        case "application/json":
            let certificate = try #require(try Self.told(response)["certificate"] as? [String: Any])
            #expect((certificate["names"] as? [String])?.first?.hasPrefix("<script>") == true)
        case "text/html": #expect(response.text.contains("&lt;script&gt;") && !response.text.contains("<script>"))
        default: #expect(response.text.contains("names: <script>"))
        }
    }
}
