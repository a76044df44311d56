import Foundation
import ServerTrust
import TestSupport
import Testing

@Suite("larder serve, and whom it believes")
struct ServedTrustTests {
    @Test("The settings' anchors and pins judge https origins, and with SIGHUP others do: a kept connection is used no more")
    func settingsJudge() throws {
        let authority = TestAuthority()
        let identity = authority.identity()
        let origin = ScriptedOrigin(identity: identity) { connection in
            while connection.readHead() != nil { connection.respond(fields: "", body: "secret") }
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        _ = try folder.write(Self.pem(authority.der), to: "root.pem")
        func settings(pinned der: [UInt8]) throws -> String {
            let pin = Pin(certificate: try #require(Certificate(der: der)))
            return "tls: {hosts: {127.0.0.1: {anchors: {bundle: root.pem}, pins: {of: \(pin)}}}}"
        }
        let larder = try ServeTests.Served(try settings(pinned: identity.der), in: folder)
        let port = UInt16(try #require(try larder.ports().first))
        func fetch() throws -> ReceivedResponse {
            let client = try RawClient(port: port, owner: larder)
            client.send("GET https://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            return try client.readResponse(to: "GET")
        }
        #expect(try fetch().text == "secret")

        _ = try folder.write(try settings(pinned: TestAuthority().der), to: "larder.yaml")
        larder.signal(SIGHUP)
        #expect(larder.says("the settings were read again"))
        let refused = try fetch()
        #expect(refused.status == 502)
        #expect(refused["Proxy-Status"]?.contains("error=tls_certificate_error; details=\"pin_mismatch\"") == true)
    }

    @Test("A host that is in no settings is judged by tls.default, which may deny it")
    func unnamedHostsDenied() throws {
        let larder = try ServeTests.Served("tls: {default: deny}")
        let port = UInt16(try #require(try larder.ports().first))
        let client = try RawClient(port: port, owner: larder)
        client.send("GET https://127.0.0.1:9/ HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n")
        let refused = try client.readResponse(to: "GET")
        #expect(refused.status == 502)
        #expect(refused["Proxy-Status"]?.contains("host_not_allowed") == true)
    }

    private static func pem(_ der: [UInt8]) -> String {
        let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }
}
