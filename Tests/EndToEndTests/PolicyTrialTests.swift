import Foundation
import TestSupport
import Testing

@Suite("Report mode and the shadow policy")
struct PolicyTrialTests {
    private static let answers: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        guard connection.readBody(of: request) != nil else { return false }
        return connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "answer to \(request.target)")
    }

    private static let rules = """
        rules:
          - {name: reads, match: {host: 127.0.0.1, method: GET, path: /pub/**}, allow: {}}
          - {name: secrets, match: {path: /pub/secret}, deny: {reason: never}}
        """

    private static let requests = [
        ("GET", "/pub/a"), ("GET", "/pub/secret"), ("GET", "/other"), ("POST", "/pub/a"), ("GET", "/pub/%2e%2e/x"),
        ("GET", "/pub/b?q=1"),
        ("GET", "/pub/a"), ("GET", "/other"),
    ]

    @Test("Report mode forwards every request, and reports exactly those that deny denies, with rule and suggestion")
    func reportsWhatWouldBeDenied() throws {
        let denying = try Stage("egress: {default: deny}\n" + Self.rules, answer: Self.answers)
        let denied = try Self.requests.map { method, path in try denying.fetch(path, method: method).code ?? "" }
        let reporting = try Stage("egress: {default: deny, enforce: report}\n" + Self.rules, answer: Self.answers)
        for (method, path) in Self.requests {
            #expect(try reporting.fetch(path, method: method).status == 200, "\(method) \(path)")
        }
        let report = reporting.proxy.server.policyReport
        #expect(reporting.proxy.server.reportsDenials)
        #expect(report.denials.total == denied.count { !$0.isEmpty })
        let other = try #require(report.denials.items.first { $0.value.target.url.hasSuffix("/other") })
        #expect(other.count == 2 && other.value.rule.isEmpty && other.value.suggestion.contains("\"path\":\"/other\""))
        #expect(report.denials.items.first { $0.value.target.url.hasSuffix("/pub/secret") }?.value.rule == "secrets")
        var logged: [String] = []
        for line in try reporting.proxy.logLines() {
            let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            logged.append(record?["would_deny"] as? String ?? "")
        }
        #expect(logged == denied)
        let expected = [
            "", "denied_by_rule", "egress_denied", "egress_denied", "ambiguous_path", "", "", "egress_denied",
        ]
        #expect(denied == expected)
    }

    @Test("In report mode a tunnel that no rule allows is opened and reported")
    func opensTunnels() throws {
        let stage = try Stage(
            """
            egress: {default: deny, enforce: report}
            tunnel: {ports: any}
            rules: [{name: a, match: {host: 127.0.0.1, path: /x}, allow: {}}]
            """, script: { connection in connection.send(bytes: connection.readToEnd()) })
        for host in ["127.0.0.1", "localhost"] {
            let client = try stage.client()
            client.send("CONNECT \(host):\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse(to: "CONNECT").status == 200)
            client.send("SSH-2.0-client\r\n")
            client.endSending()
            #expect(String(decoding: try client.readToEnd(), as: UTF8.self) == "SSH-2.0-client\r\n")
        }
        let logged = try stage.proxy.logLines()
        #expect(logged.count == 2 && logged.allSatisfy { $0.contains("\"would_deny\":\"egress_denied\"") })
    }

    @Test("A reload removes the findings of report mode")
    func forgetsAtReload() throws {
        let settings = "egress: {default: deny, enforce: report}\n"
        let stage = try Stage(settings, answer: Self.answers)
        _ = try stage.fetch("/a")
        #expect(stage.proxy.server.policyReport.denials.total == 1)
        try stage.proxy.reload(settings)
        #expect(stage.proxy.server.policyReport.denials.total == 0)
    }

    @Test("Requests with the same reason, method and host are one group, with their number, times and one URL")
    func groups() throws {
        let stage = try Stage("egress: {default: deny, enforce: report}\n" + Self.rules, answer: Self.answers)
        for path in ["/a?key=1", "/b", "/pub/secret"] { _ = try stage.fetch(path) }
        _ = try stage.fetch("/a", method: "POST", body: "x")
        stage.proxy.pass(seconds: 60)
        _ = try stage.fetch("/c")
        _ = try stage.proxy.logLines()
        let groups = stage.proxy.server.policyReport.groups
        let host = "127.0.0.1:\(stage.origin.port)"
        let found = groups.groups.map {
            "\($0.count) \($0.key.word.text) \($0.key.rule) \($0.key.method) \($0.key.host) \($0.example)"
        }
        let expected = [
            "3 egress_denied  GET \(host) http://\(host)/a", "1 denied_by_rule secrets GET \(host) http://\(host)/pub/secret",
            "1 egress_denied  POST \(host) http://\(host)/a",
        ]
        #expect(found == expected && groups.omitted == 0)
        let first = try #require(groups.groups.first)
        #expect(first.last.milliseconds - first.first.milliseconds >= 60_000)
    }

    @Test("Long URLs and methods are cut in the report")
    func cutsLongTexts() throws {
        let stage = try Stage("egress: {default: deny, enforce: report}", answer: Self.answers)
        let method = String(repeating: "M", count: 3000)
        _ = try stage.fetch("/" + String(repeating: "p", count: 3000), method: method)
        let target = try #require(stage.proxy.server.policyReport.denials.items.first).value.target
        #expect(target.method == String(repeating: "M", count: 64) + "…")
        #expect(target.url.hasPrefix("http://127.0.0.1:") && target.url.hasSuffix("p…") && target.url.utf8.count == 512 + 3)
    }

    @Test(
        "A shadow policy is compared for tunnels too: if its rules look at requests, it denies a CONNECT that is not intercepted")
    func comparesTunnels() throws {
        let origin = ScriptedOrigin { connection in
            while let bytes = connection.readSome(), connection.send(bytes: bytes) {}
        }
        defer { origin.stop() }
        let proxy = try TestProxy(
            "tunnel: {ports: any}\nresolve: {a.test: 127.0.0.1, b.test: 127.0.0.1, c.test: 127.0.0.1}",
            shadow: """
                egress: {default: deny}
                rules: [{name: a, match: {host: a.test}, allow: {}}, {name: b, match: {host: b.test, path: /x}, allow: {}}]
                """)
        for host in ["a.test", "b.test", "c.test"] {
            let client = try RawClient(port: proxy.port, owner: proxy)
            client.send("CONNECT \(host):\(origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse(to: "CONNECT").status == 200)
            client.send("x")
            #expect(try client.read(count: 1) == Array("x".utf8))
            client.close()
        }
        let logged = try proxy.logLines()
        #expect(
            logged.count { $0.contains("\"shadow\":\"egress_denied\"") } == 2
                && !logged.contains { $0.contains("a.test") && $0.contains("shadow") })
        let found = proxy.server.policyReport.differences.items.map(\.value)
        #expect(found.allSatisfy { $0.active == .allowed && $0.shadow == .egressDenied } && found.count == 2)
    }

    @Test("For a CONNECT that a policy allows only if Larder intercepts the host, the shadow comparison says intercept")
    func saysIntercept() throws {
        let origin = ScriptedOrigin { connection in _ = connection.readToEnd() }
        defer { origin.stop() }
        let inspecting = "egress: {default: deny}\nrules: [{name: a, match: {host: a.test, path: /x}, allow: {}}]"
        let denying = "rules: [{name: no, match: {host: a.test}, deny: {}}]"
        let active = "tunnel: {ports: any}\nresolve: {a.test: 127.0.0.1}\n"
        // The last two policies differ for no CONNECT: Larder does not intercept it, so both deny it.
        for (rules, shadow, expected) in [
            (denying, inspecting, "denied_by_rule intercept "), (denying, "", "denied_by_rule allowed "),
            (inspecting, "egress: {default: deny}", nil),
        ] {
            let proxy = try TestProxy(active + rules, shadow: shadow)
            let client = try RawClient(port: proxy.port, owner: proxy)
            client.send("CONNECT a.test:\(origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse(to: "CONNECT").status == 403)
            let lines = try proxy.logLines()
            let found = proxy.server.policyReport.differences.items.map { item in
                "\(item.value.active.text) \(item.value.shadow.text) \(item.value.rule)"
            }
            #expect(found == (expected.map { [$0] } ?? []), "\(rules) \(shadow)")
            if expected?.contains("intercept") == true { #expect(lines[0].contains("\"shadow\":\"intercept\"")) }
        }
    }

    @Test("A shadow policy changes no response, and each request with another verdict is reported")
    func comparesShadow() throws {
        let origin = ScriptedOrigin.answering(Self.answers)
        defer { origin.stop() }
        let proxy = try TestProxy(
            "rules: [{name: no, match: {path: /no}, deny: {}}]", shadow: "egress: {default: deny}\n" + Self.rules)
        func fetch(_ path: String) throws -> Int {
            let client = try RawClient(port: proxy.port, owner: proxy)
            client.send("GET http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.readResponse().status
        }
        let statuses = try ["/pub/a", "/pub/secret", "/other", "/no", "/other"].map(fetch)
        #expect(statuses == [200, 200, 200, 403, 200])
        let found = proxy.server.policyReport.differences
        let words: [String] = found.items.map { item in
            let difference = item.value
            return "\(difference.active.text) \(difference.shadow.text) \(difference.rule) \(item.count)"
        }
        let expected = ["allowed denied_by_rule secrets 1", "allowed egress_denied  2", "denied_by_rule egress_denied  1"]
        #expect(words == expected)
        #expect(found.total == 4)
        let logged = try proxy.logLines()
        #expect(logged[1].contains("\"shadow\":\"denied_by_rule\"") && !logged[0].contains("\"shadow\""))
    }
}
