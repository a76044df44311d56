import ClientPasswords
import HTTPMessage
import TestSupport
import Testing

@Suite("Rules for clients and for parts of requests")
struct ClientRuleTests {
    private static let answers: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        guard connection.readBody(of: request) != nil else { return false }
        return connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "answer to \(request.target)")
    }

    /// The hash of `open sesame`.
    private static let hash = "$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"

    private func credentials(_ user: String) -> String {
        "Proxy-Authorization: Basic \(Base64.encode(Array("\(user):open sesame".utf8)))\r\n"
    }

    @Test("A rule for a user allows only the requests of this user, also those that stored responses answer", arguments: [1, 4])
    func users(loops: Int) throws {
        let passwords = try PasswordFile(parsing: Array("alice:\(Self.hash)\nbob:\(Self.hash)".utf8))
        let stage = try Stage(
            """
            egress: {default: deny}
            rules: [{name: a, match: {user: alice}, allow: {}}]
            """, loops: loops,
            change: {
                $0.admission.passwords = passwords
                $0.admission.asked = .all
            }, answer: Self.answers)
        #expect(try stage.fetch("/x", fields: credentials("alice")).text == "answer to /x")
        #expect(try stage.fetch("/x", fields: credentials("alice")).cacheStatus.contains("; hit"))
        #expect(try stage.fetch("/x", fields: credentials("bob")).code == "egress_denied")
        #expect(stage.requestCount() == 1)
    }

    @Test("A background validation counts for the user whose request began it, and the log names this user")
    func countsBackgroundFetches() throws {
        let passwords = try PasswordFile(parsing: Array("alice:\(Self.hash)\nbob:\(Self.hash)".utf8))
        let stage = try Stage(
            "rules: [{name: a, limit: {requests: 3, within: run, per: user}}]",
            change: {
                $0.admission.passwords = passwords
                $0.admission.asked = .all
            }
        ) { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60, stale-while-revalidate=600\r\n", body: "x")
        }
        #expect(try stage.fetch("/x", fields: credentials("alice")).status == 200)
        stage.proxy.pass(seconds: 100)
        #expect(try stage.fetch("/x", fields: credentials("alice")).cacheStatus.contains("stale_while_revalidate"))
        #expect(try stage.fetch("/x", fields: credentials("bob") + "Cache-Control: max-age=30\r\n").status == 200)
        #expect(try stage.fetch("/x", fields: credentials("alice")).code == "quota_exceeded")
        #expect(try stage.fetch("/x", fields: credentials("bob")).status == 200)
        let background = try stage.proxy.logLines().filter { $0.contains("\"cache\":\"background\"") }
        #expect(background.count == 1 && background[0].contains("\"user\":\"alice\""), "\(background)")
    }

    @Test("Rules match the client's address, the name of the run and the length of content")
    func clients() throws {
        let stage = try Stage(
            """
            clients: {run: build-7}
            egress: {default: deny}
            rules:
              - {name: a, match: {client: 127.0.0.0/8, path: /client}, allow: {}}
              - {name: b, match: {not: {client: 127.0.0.1}, path: /not}, allow: {}}
              - {name: c, match: {run: "build-*", path: /run}, allow: {}}
              - {name: d, match: {run: deploy, path: /other}, allow: {}}
              - {name: e, match: {content_length: 0-4, path: /length}, allow: {}}
            """, answer: Self.answers)
        for path in ["/client", "/run", "/length"] { #expect(try stage.fetch(path).status == 200, "\(path)") }
        for path in ["/not", "/other"] { #expect(try stage.fetch(path).code == "egress_denied", "\(path)") }
        #expect(try stage.fetch("/length", method: "POST", body: "1234").status == 200)
        #expect(try stage.fetch("/length", method: "POST", body: "12345").code == "egress_denied")
        let client = try stage.client()
        client.send(stage.head("POST", "/length", fields: "Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n0\r\n\r\n")
        #expect(try client.readResponse(to: "POST").code == "egress_denied")
    }

    @Test("A field that Connection nominates is not forwarded, so no rule can allow a request because of it")
    func fields() throws {
        let stage = try Stage(
            """
            egress: {default: deny}
            rules: [{name: a, match: {field: {X-Token: "*"}, query: {service: git-upload-pack}}, allow: {}}]
            """, answer: Self.answers)
        let path = "/info/refs?service=git-upload-pack"
        #expect(try stage.fetch(path, fields: "X-Token: t\r\n").status == 200)
        #expect(try stage.fetch(path).code == "egress_denied")
        #expect(try stage.fetch(path, fields: "X-Token: t\r\nConnection: X-Token\r\n").code == "egress_denied")
        #expect(try stage.fetch(path + "&service=git-receive-pack", fields: "X-Token: t\r\n").code == "egress_denied")
        #expect(stage.requestCount() == 1)
    }
}
