import Foundation
import TestSupport
import Testing

@Suite("larder policy report")
struct PolicyReportTests {
    private static let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    private func json(_ outcome: CommandLineTests.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    @Test("A running Larder and its access log give the same report, without queries and secrets")
    func reports() throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "hello") }
        defer { origin.stop() }
        let served = try ServeTests.Served(
            """
            egress: {default: deny, enforce: report, addresses: {private: allow}}
            rules: [{name: no keys, match: {path: "/**/*.pem"}, deny: {}}]
            """)
        let port = UInt16(try #require(try served.ports().first))
        let host = "127.0.0.1:\(origin.port)"
        for path in ["/hooks/\(Self.token)/send?key=1", "/b", "/x/a.pem"] {
            let client = try RawClient(port: port)
            client.send("GET http://\(host)\(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try client.readResponse().text == "hello")
            // The exchange is noted before its connection ends.
            #expect(client.isClosedByPeer())
        }
        func report(_ words: String...) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(["policy", "report"] + words)
        }
        let socket = "\(served.folder.path)/admin.sock"
        let running = try json(try report("--socket", socket, "-o", "json"))
        #expect(running["enforce"] as? String == "report" && running["would_deny"] as? Int == 3)
        let groups = try #require(running["denials"] as? [[String: Any]])
        #expect(groups.map { $0["count"] as? Int } == [2, 1])
        #expect(groups[0]["code"] as? String == "egress_denied" && groups[0]["rule"] is NSNull)
        #expect(groups[0]["method"] as? String == "GET" && groups[0]["host"] as? String == host)
        #expect(groups[0]["url"] as? String == "http://\(host)/hooks/{secret}/send")
        #expect(groups[1]["code"] as? String == "denied_by_rule" && groups[1]["rule"] as? String == "no keys")
        let text = try report("--socket", socket)
        #expect(text.code == 0 && text.output.hasPrefix("COUNT  DENIED BY      METHOD  HOST"), "\(text)")
        #expect(text.output.contains("1      rule no keys   GET     \(host)"), "\(text.output)")
        served.signal(SIGTERM)
        #expect(served.hasEnded())
        let logged = try json(try report("--from-log", "\(served.folder.path)/access.log", "-o", "json"))
        #expect(NSArray(array: logged["denials"] as? [Any] ?? []) == NSArray(array: groups))
        #expect(logged["enforce"] == nil && logged["would_deny"] as? Int == 3)
    }

    @Test("Without requests that would be denied, the report says so, and names the setting for report mode")
    func saysNothing() throws {
        let served = try ServeTests.Served()
        _ = try served.ports()
        let outcome = try CommandLineTests.larder(["policy", "report", "--socket", "\(served.folder.path)/admin.sock"])
        #expect(outcome.code == 0)
        #expect(
            outcome.output
                == "no request would be denied\nreport mode is off: neither egress.enforce nor the enforce of a rule is report\n")
    }

    @Test("Of an access log, the lines of other requests are ignored, and lines in another format are counted")
    func readsLogs() throws {
        let folder = try TemporaryFolder()
        let log = try folder.write(
            """
            {"ts":"2026-11-23T03:07:56.500Z","cache":"miss","method":"GET","url":"https://A.example:443/x?y","would_deny":"egress_denied"}
            {"ts":"2026-11-23T03:07:55.000Z","cache":"hit","method":"GET","url":"https://a.example/z","would_deny":"egress_denied"}
            {"ts":"2026-11-23T03:07:57.000Z","cache":"tunnel","method":"CONNECT","url":"a.example:443","rule":"r","would_deny":"denied_by_rule"}
            {"ts":"2026-11-23T03:07:58.000Z","cache":"denied","method":"GET","url":"https://b.example/","error":"egress_denied"}
            127.0.0.1 - - "GET / HTTP/1.1" 200

            """, to: "access.log")
        let outcome = try CommandLineTests.larder(["policy", "report", "--from-log", log])
        #expect(outcome.talk == "larder: \(log): skipped lines that are not in the format ndjson: 1\n")
        #expect(
            outcome.output == """
                COUNT  DENIED BY      METHOD   HOST       FIRST                 LAST                  EXAMPLE
                2      egress_denied  GET      a.example  2026-11-23T03:07:55Z  2026-11-23T03:07:56Z  https://A.example:443/x
                1      rule r         CONNECT  a.example  2026-11-23T03:07:57Z  2026-11-23T03:07:57Z  a.example:443

                """, "\(outcome.output)")
        #expect(try CommandLineTests.larder(["policy", "report", "--from-log", "\(folder.path)/missing"]).code == 1)
    }
}
