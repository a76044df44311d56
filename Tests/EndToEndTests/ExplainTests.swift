import Foundation
import HTTPMessage
import ProxyAdmin
import ProxyServer
import TestSupport
import Testing

@Suite("explain")
struct ExplainTests {
    /// A stage whose proxy also has an admin socket.
    final class Explained {
        let stage: Stage
        let socket: String
        private let admin: AdminServer

        init(
            _ yaml: String = "", loops: Int = 1, storePath: String? = ":memory:",
            change: (inout ServerSettings) -> Void = { _ in },
            answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { Recipes.answer($0, $1) }
        ) throws {
            stage = try Stage(yaml, loops: loops, storePath: storePath, change: change, answer: answer)
            socket = "\(stage.proxy.folder.path)/admin.sock"
            let tellsQuery = try TestProxy.settings(yaml).log.access.includesQuery
            admin = try AdminServer(
                AdminSocket(path: socket),
                routes: ExplainRoutes.routes(server: stage.proxy.server, store: stage.proxy.store, tellsQuery: tellsQuery))
        }

        deinit { admin.stop() }

        /// The explanation of a request, in JSON.
        func explain(_ path: String, method: String = "GET", fields: String = "", response: String = "") throws -> [String: Any] {
            let response = try ask("POST /v1/explain", body: stage.head(method, path, fields: fields) + response)
            #expect(response.status == 200, "\(response.text)")
            return try response.json
        }

        func ask(_ line: String, body: String = "", accept: String = "application/json") throws -> ReceivedResponse {
            let client = try RawClient(socketPath: socket)
            client.send(
                "\(line) HTTP/1.1\r\nHost: larder\r\nAccept: \(accept)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return try client.readResponse()
        }
    }

    private func steps(_ explanation: [String: Any]) -> [String: [String: Any]] {
        let steps = explanation["steps"] as? [[String: Any]] ?? []
        return Dictionary(steps.map { ($0["step"] as? String ?? "", $0) }) { $1 }
    }

    @Test("If the response to the latest such request was not stored, the explanation names the reason", arguments: [1, 4])
    func namesTheLastRefusal(loops: Int) throws {
        let explained = try Explained(loops: loops)
        #expect(steps(try explained.explain("/no-store"))["last response"] == nil)
        _ = try explained.stage.fetch("/no-store")
        try eventually { try steps(explained.explain("/no-store"))["last response"] != nil }
        let explanation = try explained.explain("/no-store")
        #expect(Schema.faults(of: explanation, in: "explain.schema.json") == [])
        let step = try #require(steps(explanation)["last response"])
        #expect((step["says"] as? String)?.hasPrefix("not stored: the response has no-store (request ") == true, "\(step)")
        #expect((step["values"] as? [String: Any])?["reason"] as? String == "no_store")
        // Without log.access.query Larder remembers no queries.
        let forgotten = try explained.explain("/no-store?a")
        #expect(Schema.faults(of: forgotten, in: "explain.schema.json") == [])
        let says = steps(forgotten)["last response"]?["says"] as? String
        #expect(says == "unknown: Larder does not remember the queries of requests (log.access.query is false)")
    }

    static let cases: [(path: String, fields: String, action: String, reason: String)] = [
        ("/fresh", "", "serve_stored", "fresh"),
        ("/heuristic", "", "serve_stored", "fresh"),
        ("/stale", "", "validate", "stale"),
        ("/no-cache", "", "validate", "no_cache"),
        ("/vary", "Accept-Language: en\r\n", "forward", "vary_miss"),
        ("/never-fetched", "", "forward", "uri_miss"),
        ("/fresh", "Cache-Control: no-cache\r\n", "validate", "request_no_cache"),
        ("/never-fetched", "Cache-Control: only-if-cached\r\n", "refuse", "cache_miss_only_if_cached"),
        ("/denied", "", "refuse", "denied_by_rule"),
    ]

    @Test("explain predicts the action with its reason, and sends nothing for it", arguments: [1, 4])
    func foretellsCases(loops: Int) throws {
        let explained = try Explained("rules: [{name: no, match: {path: /denied}, deny: {reason: closed}}]", loops: loops)
        for path in ["/fresh", "/heuristic", "/stale", "/no-cache", "/vary"] {
            _ = try explained.stage.fetch(path, fields: "Accept-Language: de\r\n")
        }
        let asked = explained.stage.requestCount()
        for row in Self.cases {
            let explanation = try explained.explain(row.path, fields: row.fields)
            #expect(explanation["action"] as? String == row.action, "\(row)")
            #expect(explanation["reason"] as? String == row.reason, "\(row)")
            if row.reason == "denied_by_rule" {
                #expect((steps(explanation)["fault"]?["values"] as? [String: Any])?["reason"] as? String == "closed")
            }
            #expect(explanation["tense"] as? String == "would")
            #expect(Schema.faults(of: explanation, in: "explain.schema.json") == [])
        }
        #expect(explained.stage.requestCount() == asked)
        let heuristic = steps(try explained.explain("/heuristic"))["freshness"]
        let lifetime = try #require((heuristic?["steps"] as? [[String: Any]])?.first)
        #expect((lifetime["values"] as? [String: Any])?["source"] as? String == "heuristic")
        #expect(lifetime["section"] as? String == "RFC 9111 §4.2.2")
    }

    @Test("explain predicts a PURGE as for a client on this machine", arguments: ["127.0.0.0/8", "192.0.2.0/24"])
    func foretellsPurge(clients: String) throws {
        let explained = try Explained("clients: {purge: [\(clients)]}")
        let client = try explained.stage.client()
        client.send(explained.stage.head("PURGE", "/x"))
        let explanation = try explained.explain("/x", method: "PURGE")
        #expect(explanation["status"] as? Int == (try client.readResponse()).status)
    }

    @Test(
        "explain predicts refusals of malformed and oversized requests",
        arguments: [
            ("/x", "Content-Length: 5,6\r\n"), ("/x", "Content-Length: 18446744073709551616\r\n"),
            ("/x", "Content-Length: 5\r\nContent-Length: 5\r\n"),
            ("/x", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), ("/x", "Transfer-Encoding: gzip\r\n"),
            ("/x", "Transfer-Encoding: gzip, chunked\r\n"), ("/x", "Host: another\r\n"), ("/x", "A : b\r\n"),
            ("/\(String(repeating: "x", count: 300))", ""), ("/x", "X: \(String(repeating: "x", count: 1000))\r\n"),
        ])
    func foretellsRefusals(path: String, fields: String) throws {
        let explained = try Explained("limits: {request_line: 200, head: 1000}")
        let real = try explained.stage.fetch(path, fields: fields)
        let explanation = try explained.explain(path, fields: fields)
        #expect(real.status >= 400 && explanation["status"] as? Int == real.status)
        #expect(explanation["action"] as? String == "refuse" && explanation["reason"] as? String == real.code)
        #expect(Schema.faults(of: explanation, in: "explain.schema.json") == [])
    }

    @Test(
        "If forwarding is forbidden, explain names the rule or directive, with the same token as the response and the log",
        arguments: [true, false])
    func namesWhoForbids(isByRule: Bool) throws {
        let rule = "rules: [{name: offline, cache: {policy: stored_only}}]"
        let explained = try Explained(isByRule ? rule : "")
        let fields = isByRule ? "" : "Cache-Control: only-if-cached\r\n"
        let explanation = try explained.explain("/x", fields: fields)
        let decision = steps(explanation)["decision"]
        #expect(decision?["section"] as? String == (isByRule ? nil : "RFC 9111 §5.2.1.7"))
        #expect((decision?["says"] as? String)?.contains(isByRule ? "stored_only" : "only-if-cached") == true)
        let word = "cache_miss_only_if_cached"
        #expect(explanation["reason"] as? String == word)
        #expect((decision?["values"] as? [String: Any])?["reason"] as? String == word)
        let response = try explained.stage.fetch("/x", fields: fields)
        #expect(response.code == word && response.detail == "uri_miss")
        #expect(response["Cache-Status"] == "Larder; detail=\(word)")
        #expect(response["Proxy-Status"]?.hasSuffix("details=\"\(word): uri_miss\"") == true)
        let log = try #require(try explained.stage.proxy.logLines().last)
        let line = try #require(try JSONSerialization.jsonObject(with: Data(log.utf8)) as? [String: Any])
        #expect(line["reuse"] as? String == word && line["error"] as? String == word)
    }

    @Test("explain does not announce a tunnel that egress.default denies")
    func namesDeniedTunnels() throws {
        let explained = try Explained(
            "egress: {default: deny}\nrules: [{name: a, match: {host: origin.example, path: /x}, allow: {}}]")
        let body = "CONNECT origin.example:443 HTTP/1.1\r\nHost: origin.example:443\r\n\r\n"
        let told = try explained.ask("POST /v1/explain", body: body, accept: "text/plain")
        #expect(told.text.contains("request: Larder opens no tunnel to origin.example:443"))
    }

    @Test(
        "explain refuses what the settings for hosts and addresses refuse, with the code that the client would get",
        arguments: [
            ("GET http://169.254.169.254/ HTTP/1.1\r\nHost: a\r\n\r\n", "destination_prohibited"),
            ("CONNECT 169.254.169.254:443 HTTP/1.1\r\nHost: a\r\n\r\n", "destination_prohibited"),
            ("GET http://10.1.2.3/ HTTP/1.1\r\nHost: a\r\n\r\n", "destination_private"),
            ("GET https://own.test/ HTTP/1.1\r\nHost: a\r\n\r\n", "destination_private"),
        ])
    func namesDeniedAddresses(head: String, code: String) throws {
        let explained = try Explained("egress: {addresses: {private: deny}}\nresolve: {own.test: 127.0.0.1}")
        let told = try explained.ask("POST /v1/explain", body: head, accept: "text/plain")
        #expect(told.text.contains("fault: \(code): ") && !told.text.contains("request: sent"), "\(told.text)")
    }

    @Test("explain describes a tunnel that would be opened")
    func tellsOfTunnels() throws {
        let body = "CONNECT origin.example:443 HTTP/1.1\r\nHost: origin.example:443\r\n\r\n"
        let told = try Explained().ask("POST /v1/explain", body: body, accept: "text/plain")
        #expect(told.text.contains("request: Larder opens a tunnel to origin.example:443, unless"))
    }

    @Test("The trace of a validation has its conditions, and the update of the stored response")
    func tellsOfValidations() throws {
        let explained = try Explained()
        for fields in ["", "If-Modified-Since: junk\r\nRange: bytes=0-1\r\n"] {
            _ = try explained.stage.fetch("/no-cache", fields: fields)
        }
        let line = try #require(try explained.stage.proxy.loggedLines(2).last)
        let explanation = try explained.ask("GET /v1/traces?id=\(line["id"] as? String ?? "")").json
        #expect(Schema.faults(of: explanation, in: "explain.schema.json") == [])
        #expect(
            (steps(explanation)["conditions"]?["values"] as? [String: [String]])?["fields"] == ["If-Modified-Since", "Range"])
        #expect((steps(explanation)["request"]?["values"] as? [String: [String]])?["conditions"] == ["If-None-Match"])
        #expect((steps(explanation)["key"]?["values"] as? [String: String])?["key"] == explained.stage.url("/no-cache"))
        #expect(steps(explanation)["storage"]?["section"] as? String == "RFC 9111 §4.3.4")
    }

    @Test("The trace of a request is found by its id in the log, with its rule, origin and storage", arguments: [1, 4])
    func tellsWhatWasDone(loops: Int) throws {
        let yaml =
            "rules: [{name: past no-store, match: {path: /no-store}, cache: {ttl: 1h, ignore: [no-store], unsafe: true}}]"
        let explained = try Explained(yaml, loops: loops)
        for path in ["/no-store?token=secret", "/no-store?token=secret", "/plain"] { _ = try explained.stage.fetch(path) }
        // The admin socket answers only while the proxy runs, so the log is read while it grows.
        let lines = try explained.stage.proxy.loggedLines(3)
        let told = try lines.map { line in
            let id = try #require(line["id"] as? String)
            let response = try explained.ask("GET /v1/traces?id=\(id)")
            #expect(!response.text.contains("secret"))
            let explanation = try response.json
            #expect(Schema.faults(of: explanation, in: "explain.schema.json") == [])
            #expect(explanation["id"] as? String == id && explanation["tense"] as? String == "did")
            return explanation
        }
        #expect(told.map { $0["action"] as? String } == ["forward", "serve_stored", "forward"])
        let rules = try #require(steps(told[0])["rules"])
        #expect((rules["steps"] as? [[String: Any]])?.first?["says"] as? String == "rule past no-store overrode no-store")
        #expect((steps(told[0])["storage"]?["values"] as? [String: Any])?["stored"] as? Bool == true)
        #expect(steps(told[0])["key"]?["says"] as? String == explained.stage.url("/no-store?…"))
        #expect(told.map { steps($0)["request"] == nil } == [false, true, false])
        #expect((steps(told[2])["storage"]?["values"] as? [String: Any])?["reason"] as? String == "no_lifetime")
        #expect((steps(told[2])["origin"]?["values"] as? [String: Any])?["status"] as? Int == 200)
        #expect(try explained.ask("GET /v1/traces?id=0123456789abcdef").status == 404)
        #expect(try explained.ask("GET /v1/traces?id=xyz").status == 400)
    }

    @Test("explain describes a partly stored response, and the request for the rest")
    func tellsOfParts() throws {
        let explained = try Explained(storePath: nil)
        _ = try explained.stage.fetch("/parts", fields: "Range: bytes=0-999\r\n")
        explained.stage.proxy.waitUntilStored()
        let held = try explained.explain("/parts", fields: "Range: bytes=10-99\r\n")
        #expect(held["action"] as? String == "serve_stored" && held["reason"] as? String == "fresh")
        #expect(steps(held)["look-up"]?["says"] as? String == "a part of the response is stored")
        let whole = try explained.explain("/parts")
        #expect(whole["action"] as? String == "forward" && whole["reason"] as? String == "partial")
        #expect((steps(whole)["request"]?["values"] as? [String: Any])?["conditions"] as? [String] == ["Range", "If-Range"])
        for explanation in [held, whole] { #expect(Schema.faults(of: explanation, in: "explain.schema.json") == []) }
        #expect(explained.stage.requestCount() == 1)
    }

    @Test("A request keyed by its content is explained once its content is given")
    func takesContent() throws {
        let explained = try Explained("rules: [{name: asks, match: {path: /fresh}, cache: {key: {body: [QUERY]}}}]")
        let fields = "Content-Type: text/plain\r\n"
        _ = try explained.stage.fetch("/fresh", method: "QUERY", fields: fields, body: "one")
        for (content, action) in [("one", "serve_stored"), ("two", "forward")] {
            let head = explained.stage.head("QUERY", "/fresh", fields: fields + "Content-Length: 3\r\n")
            let told = try explained.ask("POST /v1/explain?content=3", body: head + content).json
            #expect(told["action"] as? String == action)
            #expect(Schema.faults(of: told, in: "explain.schema.json") == [])
        }
        let head = explained.stage.head("QUERY", "/fresh", fields: fields + "Content-Length: 3\r\n")
        #expect(try explained.ask("POST /v1/explain", body: head).json["action"] as? String == "none")
        #expect(try explained.ask("POST /v1/explain?content=4", body: head + "one").status == 400)
        #expect(explained.stage.requestCount() == 1)
    }

    @Test("A saved response is explained: whether it would be stored, and then reused")
    func judgesASavedResponse() throws {
        let explained = try Explained()
        let shared = try explained.explain(
            "/x", fields: "Authorization: Basic c2VjcmV0\r\n", response: "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\n")
        #expect(steps(shared)["storage"]?["section"] as? String == "RFC 9111 §3.5")
        #expect(Schema.faults(of: shared, in: "explain.schema.json") == [])
        let stored = try explained.explain("/x", response: "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\n")
        #expect((steps(stored)["again"]?["values"] as? [String: Any])?["action"] as? String == "serve_stored")
        #expect(Schema.faults(of: stored, in: "explain.schema.json") == [])
        #expect(steps(stored)["look-up"]?["says"] as? String == "skipped: the saved response is used instead of the store")
        #expect(stored["reason"] as? String == "stored" && steps(stored)["decision"] == nil)
        let old = try explained.explain(
            "/x", response: "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: \"1\"\r\nAge: 70\r\n\r\n")
        #expect((steps(old)["again"]?["values"] as? [String: Any])?["action"] as? String == "validate")
        #expect(explained.stage.requestCount() == 0)
    }

    @Test("A redirect to a signed Location stays fresh only until the signature expires, and explain gives that reason")
    func tellsOfSignatures() throws {
        let explained = try Explained()
        func storage(secondsLeft: Int) throws -> [String: Any]? {
            let end = Int(Date().timeIntervalSince1970) + secondsLeft
            let explanation = try explained.explain(
                "/x",
                response: "HTTP/1.1 302 Found\r\nLocation: https://s.example/y?Expires=\(end)&Signature=a\r\n"
                    + "Cache-Control: max-age=86400\r\n\r\n")
            #expect(Schema.faults(of: explanation, in: "explain.schema.json") == [])
            return steps(explanation)["storage"]
        }
        let stored = try storage(secondsLeft: 3600)
        let values = stored?["values"] as? [String: Any]
        #expect(values?["source"] as? String == "signature" && values?["lifetime"] as? Int ?? 0 <= 3600)
        #expect(
            (stored?["says"] as? String)?.contains("the response is fresh until the signature in its Location expires") == true)
        let refused = try storage(secondsLeft: -1)
        #expect((refused?["values"] as? [String: Any])?["reason"] as? String == "signature")
    }

    /// A redirect whose signature expires in 600 s.
    private static func signedRedirect(
        _ fields: String
    ) -> @Sendable (OriginRequest, borrowing OriginConnection) -> Bool {
        { _, connection in
            let end = Int(Date().timeIntervalSince1970) + 600
            return connection.respond(
                "301 Moved Permanently", fields: "Location: https://s.example/y?Expires=\(end)&Signature=a\r\n\(fields)",
                body: "")
        }
    }

    @Test(
        "A stale redirect under a rule with a ttl: the reason is the signature if it ended before the ttl, and the rule otherwise",
        arguments: [(3600, "signature"), (300, "rule")], ["", "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n"])
    func tellsOfSignaturesUnderRules(rule: (ttl: Int, source: String), modified: String) throws {
        let sources = try Self.sources("rules: [{name: keep, cache: {ttl: \(rule.ttl)s}}]", modified, steps)
        #expect(sources == ["fresh \(rule.source)", "stale \(rule.source)"])
    }

    @Test("A heuristic lifetime that a signature limits has the signature as its reason, both fresh and stale")
    func tellsOfSignaturesUnderHeuristics() throws {
        let sources = try Self.sources("", "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n", steps)
        #expect(sources == ["fresh signature", "stale signature"])
    }

    /// The source of a signed redirect's lifetime, while it is fresh and 1000 s later.
    private static func sources(
        _ yaml: String, _ fields: String, _ steps: ([String: Any]) -> [String: [String: Any]]
    ) throws -> [String] {
        let explained = try Explained(yaml, answer: signedRedirect(fields))
        for seconds in [0, 0, 1000] as [Int64] {
            explained.stage.proxy.pass(seconds: seconds)
            #expect(try explained.stage.fetch("/x").status == 301)
        }
        return try explained.stage.proxy.loggedLines(3).dropFirst().map { line in
            let explanation = try explained.ask("GET /v1/traces?id=\(line["id"] as? String ?? "")").json
            #expect(Schema.faults(of: explanation, in: "explain.schema.json") == [])
            let freshness = try #require(steps(explanation)["freshness"])
            let lifetime = steps(["steps": freshness["steps"] ?? []])["lifetime"]
            let isFresh = (freshness["values"] as? [String: Any])?["fresh"] as? Bool == true
            let source = (lifetime?["values"] as? [String: Any])?["source"] as? String
            return "\(isFresh ? "fresh" : "stale") \(source ?? "")"
        }
    }

    @Test("An explanation contains no secret of a request, as text or as JSON", arguments: ["application/json", "text/plain"])
    func keepsSecrets(accept: String) throws {
        let explained = try Explained()
        let secrets = "Authorization: Bearer hunter2\r\nCookie: session=hunter2\r\n"
        _ = try explained.stage.fetch("/vary-cookie?key=hunter2", fields: "Cookie: session=other2\r\n")
        let head = explained.stage.head("GET", "/vary-cookie?key=hunter2", fields: secrets)
        let response = try explained.ask("POST /v1/explain", body: head, accept: accept)
        #expect(response.status == 200 && response.text.contains("cookie"))
        #expect(!response.text.contains("hunter2") && !response.text.contains("other2"))
        let userinfo = "GET http://me:hunter2@127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n"
        let refused = try explained.ask("POST /v1/explain", body: userinfo, accept: accept)
        #expect(!refused.text.contains("hunter2"))
    }

    @Test("A malformed head is refused with a 400")
    func refusesBadHeads() throws {
        let explained = try Explained()
        for body in [
            "", "GET", "GET / HTTP/1.1\r\n", "hello\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\nHTTP/1.1 2x0 OK\r\n\r\n",
        ] {
            #expect(try explained.ask("POST /v1/explain", body: body).status == 400, "\(body)")
        }
    }
}
