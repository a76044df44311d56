import Foundation
import ServerTrust
import TestSupport
import Testing

@Suite("larder serve and server trust")
struct ServedTrustTests {
    @Test(
        "The settings' CA certificates and pins verify https origins, and SIGHUP replaces them: kept connections are no longer used"
    )
    func settingsJudge() throws {
        let stage = try PinnedStage()
        let folder = stage.folder
        let identity = stage.authority.identity()
        let origin = stage.serve(identity)
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
        #expect(larder.says("the settings were reloaded"))
        let refused = try fetch()
        #expect(refused.status == 502)
        #expect(refused["Proxy-Status"]?.contains("error=tls_certificate_error; details=\"pin_mismatch\"") == true)
    }

    @Test("With a single pin as the only setting, curl gets no tunnel to a server with another key", .enabled(if: curl != nil))
    func curlIsRefused() throws {
        let stage = try PinnedStage()
        let identity = stage.authority.identity(names: "DNS:pinned.test")
        let origin = stage.serve(identity)
        for (pinned, expected) in [(identity.der, "secret"), (TestAuthority.selfSignedIdentity().der, "response 502")] {
            let pin = Pin(certificate: try #require(Certificate(der: pinned)))
            let larder = try ServeTests.Served(
                """
                tunnel: {ports: any}
                resolve: {pinned.test: 127.0.0.1}
                tls: {hosts: {pinned.test: {anchors: {bundle: root.pem}, pins: {of: \(pin)}}}}
                """, in: stage.folder)
            let curl = Process()
            let output = Pipe()
            curl.executableURL = Self.curl
            curl.arguments = [
                "-sS", "-m", "20", "-x", "http://127.0.0.1:\(try #require(try larder.ports().first))", "--cacert",
                "\(stage.folder.path)/root.pem",
                "https://pinned.test:\(origin.port)/",
            ]
            curl.standardOutput = output
            curl.standardError = output
            try curl.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            curl.waitUntilExit()
            #expect(text.contains(expected), "\(text)")
        }
        #expect(origin.requestHeads.count == 1)
    }

    private static let curl = ["/usr/bin/curl", "/usr/local/bin/curl"].map { URL(filePath: $0) }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    @Test(
        "A host that tls.default denies gets the same error in absolute form and by CONNECT",
        arguments: ["GET https://127.0.0.1:9/", "CONNECT 127.0.0.1:9"])
    func unnamedHostsDenied(request: String) throws {
        let larder = try ServeTests.Served("{tls: {default: deny}, tunnel: {ports: any}}")
        let port = UInt16(try #require(try larder.ports().first))
        let client = try RawClient(port: port, owner: larder)
        client.send("\(request) HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n")
        let refused = try client.readResponse(to: String(request.prefix { $0 != " " }))
        #expect(refused.status == 403 && refused.text.contains("host_denied"))
        #expect(refused["Proxy-Status"]?.contains("; error=http_request_denied; details=\"host_denied\"") == true)
    }

    @Test("Only its owner may access tls.key_log, which causes a warning; a file that other users can read is refused")
    func keyLog() throws {
        let stage = try PinnedStage()
        let folder = stage.folder
        let origin = stage.serve(stage.authority.identity())
        let settings = "tls: {default: {anchors: {bundle: root.pem}}, key_log: keys}"
        _ = try folder.write(settings, to: "checked.yaml")
        #expect(try CommandLineTests.larder("config", "check", "-c", "\(folder.path)/checked.yaml").code == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/keys"))
        let larder = try ServeTests.Served(settings, in: folder)
        let client = try RawClient(port: UInt16(try #require(try larder.ports().first)), owner: larder)
        client.send("GET https://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
        #expect(try client.readResponse(to: "GET").text == "secret")
        #expect(larder.said.contains("anyone who can read it can decrypt the traffic"))
        let keys = "\(folder.path)/keys"
        #expect(try String(contentsOfFile: keys, encoding: .utf8).contains("SERVER_TRAFFIC_SECRET_0 "))
        let mode = try FileManager.default.attributesOfItem(atPath: keys)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: keys)
        larder.signal(SIGHUP)
        #expect(
            larder.says(
                "tls.key_log: cannot write \(keys): only the file's owner may have access to the file: "
                    + "restrict it with `chmod 600`"))
    }
}
