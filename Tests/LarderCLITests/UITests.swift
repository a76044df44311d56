import Foundation
import TestSupport
import Testing

@testable import LarderCLI

@Suite("larder ui")
struct UITests {
    /// A `larder serve` with an open page, and a browser's cookie for it.
    final class Page {
        let served: ServeTests.Served
        let port: UInt16
        let cookie: String

        init(_ yaml: String = "", in folder: TemporaryFolder? = nil) throws {
            served = try ServeTests.Served(yaml, in: folder)
            _ = try served.ports()
            let link = try UITests.link(served)
            let url = try #require(URL(string: link))
            #expect(url.host == "127.0.0.1" && url.path == "/open")
            port = UInt16(try #require(url.port))
            let response = try Self.ask(port, "GET", "/open?\(url.query ?? "")")
            #expect(response.status == 303)
            cookie = String(try #require(response["Set-Cookie"]).prefix { $0 != ";" })
        }

        private static func ask(_ port: UInt16, _ method: String, _ target: String, _ fields: String = "") throws
            -> ReceivedResponse
        {
            let client = try RawClient(port: port)
            client.send("\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(fields)\r\n")
            return try client.readResponse()
        }

        func get(_ target: String) throws -> ReceivedResponse { try Self.ask(port, "GET", target, "Cookie: \(cookie)\r\n") }

        func post(_ target: String) throws -> ReceivedResponse {
            try Self.ask(
                port, "POST", target,
                "Cookie: \(cookie)\r\nOrigin: http://127.0.0.1:\(port)\r\nX-Larder: 1\r\nContent-Length: 0\r\n")
        }

        func json(_ target: String) throws -> [String: Any] {
            let response = try get(target)
            #expect(response.status == 200, "\(target): \(response.text)")
            return try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
        }

        /// A request through the proxy, which has finished when this returns.
        func fetch(_ url: String, method: String = "GET", _ fields: String = "") throws -> ReceivedResponse {
            let client = try RawClient(port: UInt16(try #require(try served.ports().first)))
            client.send("\(method) \(url) HTTP/1.1\r\nHost: a\r\n\(fields)Connection: close\r\n\r\n")
            let response = try client.readResponse(to: method)
            // The trace is written before the connection ends.
            #expect(client.isClosedByPeer())
            return response
        }
    }

    private static func link(_ served: ServeTests.Served) throws -> String {
        let outcome = try CommandLineTests.larder(["ui", "--no-open", "--set", "admin.socket=\(served.folder.path)/admin.sock"])
        #expect(outcome.code == 0)
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    private func rows(_ page: Page, _ query: String = "") throws -> [[String: Any]] {
        try #require(try page.json("/v1/requests\(query)")["requests"] as? [[String: Any]])
    }

    private func paths(_ rows: [[String: Any]]) -> [String] {
        rows.compactMap { ($0["url"] as? String).flatMap { URL(string: $0)?.path } }
    }

    private func origin() -> ScriptedOrigin {
        ScriptedOrigin.answering { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\nhello")
        }
    }

    @Test("A second link opens another session on the same port; a Larder that is not running has no page")
    func printsLinks() throws {
        let page = try Page()
        let second = try Self.link(page.served)
        #expect(second.hasPrefix("http://127.0.0.1:\(page.port)/open?token="))
        let none = try CommandLineTests.larder(["ui", "--no-open", "--socket", "\(page.served.folder.path)/none.sock"])
        #expect(none.code == 1 && none.output.isEmpty)
    }

    @Test("With a display, xdg-open gets the link; with --no-open it does not")
    func opensBrowsers() throws {
        let served = try ServeTests.Served()
        _ = try served.ports()
        let folder = try TemporaryFolder()
        let script = try folder.write(
            "#!/bin/sh\nprintf %s \"$1\" > \"\(folder.path)/new\"\nmv \"\(folder.path)/new\" \"\(folder.path)/link\"\n",
            to: "xdg-open")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        let environment = ["DISPLAY": ":0", "PATH": "\(folder.path):/usr/bin:/bin"]
        let socket = ["--set", "admin.socket=\(served.folder.path)/admin.sock"]
        let printed = try CommandLineTests.larder(["ui", "--no-open"] + socket, environment: environment)
        #expect(printed.code == 0 && printed.output.hasPrefix("http://127.0.0.1:"))
        let opened = try CommandLineTests.larder(["ui"] + socket, environment: environment)
        try eventually { FileManager.default.fileExists(atPath: "\(folder.path)/link") }
        // The command without --no-open alone has started it.
        #expect(try String(contentsOfFile: "\(folder.path)/link", encoding: .utf8) + "\n" == opened.output)
    }

    @Test("The OpenAPI document has every route of the API, each with a summary, and docs/admin.md names each path")
    func describesTheAPI() throws {
        let page = try Page()
        let document = try page.json("/v1/openapi.json")
        #expect(document["openapi"] as? String == "3.1.0")
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/admin.md")
        let pages = try String(contentsOf: file, encoding: .utf8)
        for (path, operations) in paths {
            for (method, operation) in operations {
                #expect((operation["summary"] as? String)?.isEmpty == false, "\(method) \(path)")
            }
            let name = path.split(separator: "/").last { !$0.hasPrefix("{") } ?? ""
            #expect(pages.contains(name), "docs/admin.md does not name \(path)")
        }
        // The count of a purge's filters shows that parameters are described.
        let purge = try #require(paths["/v1/cache/purge"]?["post"]?["parameters"] as? [[String: Any]])
        #expect(purge.contains { $0["name"] as? String == "host" })
        #expect(paths["/v1/requests/{id}"]?["get"] != nil && paths["/v1/stop"]?["post"]?["x-access"] as? String == "socket")
    }

    @Test("The newest requests come first, in pages; each condition selects on the server; the list says what it has")
    func listsRequests() throws {
        let origin = origin()
        defer { origin.stop() }
        let page = try Page("loops: 2\nrules: [{name: no ads, match: {path: /ads}, deny: {}}]\n")
        let base = "http://127.0.0.1:\(origin.port)"
        for path in ["/a", "/a", "/b", "/ads", "/c?secret=1"] { _ = try page.fetch(base + path) }
        _ = try page.fetch(base + "/Caps", method: "POST", "Content-Length: 0\r\n")
        #expect(paths(try rows(page)) == ["/Caps", "/c", "/ads", "/b", "/a", "/a"])
        let first = try rows(page)[5]
        #expect(first["outcome"] as? String == "miss" && first["status"] as? Int == 200 && first["mode"] as? String == "live")
        #expect(first["id"] as? String != nil && first["method"] as? String == "GET")
        // Unless the settings say so, no query is remembered.
        #expect(!(try page.get("/v1/requests").text.contains("secret")))
        for (query, expected) in [
            ("text=CAP", ["/Caps"]), ("host=127.0.0.1", ["/Caps", "/c", "/ads", "/b", "/a", "/a"]),
            ("host=0.0.1", ["/Caps", "/c", "/ads", "/b", "/a", "/a"]),
            ("host=27.0.0.1", []), ("method=POST", ["/Caps"]), ("status=403", ["/ads"]), ("status=2xx&text=/a", ["/a", "/a"]),
            ("outcome=hit", ["/a"]), ("only=denied", ["/ads"]), ("only=error", []), ("mode=replay", []),
            ("mode=live&outcome=miss&text=/b", ["/b"]),
        ] { #expect(paths(try rows(page, "?\(query)")) == expected, "\(query)") }

        let start = try page.json("/v1/requests?limit=4")
        #expect(start["more"] as? Bool == true && start["kept"] as? Int == 6 && start["dropped"] as? Int == 0)
        let last = try #require((start["requests"] as? [[String: Any]])?.last?["id"] as? String)
        let rest = try page.json("/v1/requests?limit=4&before=\(last)")
        #expect(paths(rest["requests"] as? [[String: Any]] ?? []) == ["/a", "/a"] && rest["more"] as? Bool == false)
        for (query, code) in [
            ("limit=0", "bad_limit"), ("limit=501", "bad_limit"), ("status=abc", "bad_filter"), ("outcome=hits", "bad_parameter"),
            ("hsot=a", "unknown_parameter"), ("before=xyz", "bad_id"), ("before=%2B1", "bad_id"), ("limit=%2B1", "bad_parameter"),
            ("status=%2B200", "bad_filter"), ("status=%2Bxx", "bad_filter"),
        ] {
            let response = try page.get("/v1/requests?\(query)")
            #expect(response.status == 400 && response.text.contains("\"code\": \"\(code)\""), "\(query)")
        }
    }

    @Test("Requests that Larder no longer remembers are counted")
    func countsDropped() throws {
        let origin = origin()
        defer { origin.stop() }
        let page = try Page("loops: 1\ntraces: {count: 3}\n")
        _ = try page.fetch("http://127.0.0.1:\(origin.port)/1")
        let lost = try #require(try rows(page).first?["id"] as? String)
        for path in ["/2", "/3", "/4", "/5"] { _ = try page.fetch("http://127.0.0.1:\(origin.port)\(path)") }
        let list = try page.json("/v1/requests")
        #expect(paths(list["requests"] as? [[String: Any]] ?? []) == ["/5", "/4", "/3"])
        #expect(list["kept"] as? Int == 3 && list["dropped"] as? Int == 2)
        // No request can be older than one that is not remembered.
        #expect(try rows(page, "?before=\(lost)").isEmpty)
        #expect(try page.get("/v1/requests/\(lost)").status == 404)
    }

    @Test("A request has its timing and every step of its decisions")
    func showsRequest() throws {
        let origin = origin()
        defer { origin.stop() }
        let page = try Page()
        for _ in 0..<2 { _ = try page.fetch("http://127.0.0.1:\(origin.port)/a") }
        let ids = try rows(page).compactMap { $0["id"] as? String }
        let miss = try page.json("/v1/requests/\(ids[1])")
        let timing = try #require(miss["timing"] as? [String: Any])
        #expect(timing["upstream"] as? Bool == true && timing["connection_reused"] as? Bool == false)
        #expect(try #require(timing["total_us"] as? Int) >= #require(timing["first_byte_us"] as? Int))
        let explanation = try #require(miss["explanation"] as? [String: Any])
        let steps = try #require(explanation["steps"] as? [[String: Any]]).compactMap { $0["step"] as? String }
        #expect(Set(["rules", "decision", "origin", "storage", "answer"]).isSubset(of: steps), "\(steps)")
        #expect(explanation["action"] as? String == "forward")
        let hit = try page.json("/v1/requests/\(ids[0])")
        #expect((hit["explanation"] as? [String: Any])?["action"] as? String == "serve_stored")
        #expect((hit["timing"] as? [String: Any])?["upstream"] as? Bool == false)
        #expect(try page.get("/v1/requests/1234567812345678").status == 404)
        #expect(try page.get("/v1/requests/xyz").status == 400)
    }

    @Test("Finished requests arrive as events, filtered by the server")
    func streamsEvents() throws {
        let origin = origin()
        defer { origin.stop() }
        let page = try Page()
        _ = try page.fetch("http://127.0.0.1:\(origin.port)/before")
        let stream = try RawClient(port: page.port)
        stream.send("GET /v1/events?text=/seen HTTP/1.1\r\nHost: 127.0.0.1:\(page.port)\r\nCookie: \(page.cookie)\r\n\r\n")
        let head = try stream.readHead()
        #expect(head.status == 200 && head["Content-Type"] == "text/event-stream")
        #expect(String(decoding: try stream.readChunk(), as: UTF8.self) == "event: hello\ndata: {}\n\n")
        for path in ["/unseen", "/other", "/seen"] { _ = try page.fetch("http://127.0.0.1:\(origin.port)\(path)") }
        var events = ""
        while !events.contains("/seen") { events += String(decoding: try stream.readChunk(), as: UTF8.self) }
        #expect(events.hasPrefix("event: requests\ndata: {\"requests\":[{") && events.hasSuffix("}\n\n"))
        #expect(!events.contains("/before") && !events.contains("/other") && events.contains("\"skipped\":0"))
    }

    @Test("The number of event streams is limited, and a closed one makes room")
    func limitsStreams() throws {
        let page = try Page()
        func open() throws -> (RawClient, Int) {
            let stream = try RawClient(port: page.port)
            stream.send("GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:\(page.port)\r\nCookie: \(page.cookie)\r\n\r\n")
            return (stream, try stream.readHead().status)
        }
        let streams = try (0..<16).map { _ in try open() }
        #expect(streams.allSatisfy { $0.1 == 200 })
        #expect(try open().1 == 503)
        streams[3].0.close()
        try eventually { try open().1 == 200 }
    }

    @Test("The page purges and verifies stored responses, and switches the mode, but does not stop Larder or show secrets")
    func changes() throws {
        let origin = ScriptedOrigin.answering { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nSet-Cookie: session=hidden\r\nContent-Length: 5\r\n\r\nhello")
        }
        defer { origin.stop() }
        let page = try Page()
        let url = "http://127.0.0.1:\(origin.port)/a"
        _ = try page.fetch(url)
        _ = try page.fetch(url)
        #expect(try page.get("/v1/cache/entries?host=127.0.0.1&limit=10").text.contains(url))
        let shown = try page.get("/v1/cache/response?url=\(url)")
        #expect(shown.status == 200 && shown.text.contains("(left out)") && !shown.text.contains("hidden"))
        #expect(try page.get("/v1/cache/response?url=\(url)&secrets=shown").status == 400)
        #expect(try page.get("/v1/cache/body?url=\(url)").status == 404)
        #expect(try page.post("/v1/cache/purge?url=\(url)").status == 200)
        #expect(try page.post("/v1/cache/purge").status == 400)
        #expect(try page.post("/v1/stop").status == 404 && page.post("/v1/page").status == 404)
        #expect(try page.post("/v1/mode?mode=offline").status == 200)
        #expect(try page.json("/v1/recordings")["mode"] as? String == "offline")
        let settings = try #require(try page.json("/v1/settings")["settings"] as? [[String: Any]])
        let mode = settings.first { $0["name"] as? String == "mode" }
        #expect(mode?["value"] as? String == "offline" && mode?["source"] as? String == "larder mode")
    }

    @Test("Settings have their sources, and no secrets")
    func showsSettings() throws {
        let folder = try TemporaryFolder()
        let page = try Page("upstream: {proxy: 'http://user:hunter2@proxy.example:3128'}\nloops: 1\n", in: folder)
        let settings = try #require(try page.json("/v1/settings")["settings"] as? [[String: Any]])
        func setting(_ name: String) -> [String: Any]? { settings.first { $0["name"] as? String == name } }
        #expect(
            setting("loops")?["source"] as? String == "\(folder.path)/larder.yaml" && setting("loops")?["value"] as? String == "1"
        )
        #expect(setting("store.path")?["source"] as? String == "--store")
        #expect(setting("admin.socket")?["source"] as? String == "--set admin.socket")
        #expect(setting("log.level")?["source"] is NSNull)
        #expect(!(try page.get("/v1/settings").text.contains("hunter2")))
        _ = try folder.write("loops: 2\nlog: {level: warning}\n", to: "larder.yaml")
        #expect(try page.post("/v1/reload").status == 200)
        let read = try #require(try page.json("/v1/settings")["settings"] as? [[String: Any]])
        #expect(read.first { $0["name"] as? String == "log.level" }?["source"] as? String == "\(folder.path)/larder.yaml")
        // A change that needs a restart is not active.
        let loops = read.first { $0["name"] as? String == "loops" }
        #expect(loops?["value"] as? String == "1" && loops?["next"] as? String == "2")
        #expect(read.first { $0["name"] as? String == "log.level" }?["next"] == nil)
    }

    @Test("Rules have counts, and denials are grouped by rule and host, with the rule that would allow them")
    func showsPolicy() throws {
        let origin = origin()
        defer { origin.stop() }
        let page = try Page(
            """
            loops: 2
            egress: {default: deny, addresses: {private: allow}}
            rules:
              - {name: pub, match: {scheme: http, path: /pub}, allow: {}}
              - {name: never, match: {scheme: http, path: /pub/no}, deny: {}}
            """)
        let base = "http://127.0.0.1:\(origin.port)"
        for path in ["/pub", "/pub", "/pub/no", "/other", "/other"] { _ = try page.fetch(base + path) }
        let policy = try page.json("/v1/policy")
        #expect(policy["default"] as? String == "deny" && policy["requests"] as? Int == 5)
        let rules = try #require(policy["rules"] as? [[String: Any]])
        #expect(
            rules.map { $0["name"] as? String } == ["pub", "never"] && rules.map { $0["hits"] as? Int } == [2, 1], "\(rules)")
        let denials = try #require(policy["denials"] as? [[String: Any]])
        #expect(denials.count == 2)
        let unlisted = try #require(denials.first { $0["code"] as? String == "egress_denied" })
        #expect(unlisted["host"] as? String == "127.0.0.1" && unlisted["count"] as? Int == 2 && unlisted["rule"] is NSNull)
        #expect(
            unlisted["suggestion"] as? String
                == "{\"match\":{\"host\":\"127.0.0.1\",\"port\":\(origin.port),\"method\":\"GET\",\"path\":\"/other\"},\"allow\":{}}"
        )
        let ruled = try #require(denials.first { $0["code"] as? String == "denied_by_rule" })
        #expect(ruled["rule"] as? String == "never" && ruled["count"] as? Int == 1 && ruled["suggestion"] is NSNull)
    }

    @Test("Trust has the policies with their place, pins, the root certificate and the certificates of stored responses' servers")
    func showsTrust() throws {
        let stage = try PinnedStage()
        let origin = stage.serve(stage.authority.identity())
        let pin = "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
        let page = try Page(
            """
            tls:
              default: {anchors: {bundle: root.pem}}
              hosts: {pinned.example: {anchors: {bundle: root.pem}, pins: {of: \(pin)}, mode: report_only}}
            rules: [{name: keep, match: {host: 127.0.0.1}, cache: {ttl: 1h}}]
            """, in: stage.folder)
        _ = try page.fetch("https://127.0.0.1:\(origin.port)/a")
        let trust = try page.json("/v1/trust")
        let hosts = try #require(trust["hosts"] as? [[String: Any]])
        #expect(hosts.count == 1 && hosts[0]["host"] as? String == "pinned.example")
        #expect((hosts[0]["source"] as? String)?.contains("larder.yaml:3:") == true)
        #expect((hosts[0]["policy"] as? String)?.contains("report_only") == true)
        let pins = try #require(trust["pins"] as? [[String: Any]])
        #expect(pins.count == 1 && pins[0]["live"] as? [String] == [pin] && pins[0]["report_only"] as? Bool == true)
        let servers = try #require(try page.json("/v1/trust/servers")["origins"] as? [[String: Any]])
        #expect(servers.count == 1 && servers[0]["origin"] as? String == "127.0.0.1:\(origin.port)")
        #expect((servers[0]["certificate"] as? [String: Any])?["days_left"] is Int)
    }

    @Test("The history ends with the current minute")
    func showsHistory() throws {
        let origin = origin()
        defer { origin.stop() }
        let page = try Page()
        for _ in 0..<4 { _ = try page.fetch("http://127.0.0.1:\(origin.port)/a") }
        let samples = try #require(try page.json("/v1/history")["samples"] as? [[String: Any]])
        let requests = samples.reduce(0) { $0 + ($1["requests"] as? Int ?? 0) }
        #expect(requests == 4 && samples.reduce(0) { $0 + ($1["hits"] as? Int ?? 0) } == 3)
        #expect(samples.reduce(0) { $0 + ($1["saved_bytes"] as? Int ?? 0) } == 15 && samples.last?["p99_us"] is Int)
    }

    @Test("No spelling of the page's address reaches it through the proxy (T07)")
    func isNotReachedThroughTheProxy() throws {
        let page = try Page("egress: {addresses: {private: allow}}\ntunnel: {ports: any}\n")
        let port = page.port
        for host in [
            "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "[::1]", "0.0.0.0", "127.1", "127.0.1", "2130706433",
            "0x7f000001",
            "0x7f.0.0.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "127.0.0.2", "%31%32%37.0.0.1",
            "１２７.0.0.1",
        ] {
            for path in ["/", "/v1/requests", "/open?token=0"] {
                let response = try? page.fetch("http://\(host):\(port)\(path)", "Cookie: \(page.cookie)\r\n")
                #expect(response?.status != 200 && response?["Content-Security-Policy"] == nil, "\(host)\(path)")
            }
            let tunnel = try RawClient(port: UInt16(try #require(try page.served.ports().first)))
            tunnel.send("CONNECT \(host):\(port) HTTP/1.1\r\nHost: \(host):\(port)\r\n\r\n")
            let status = try? tunnel.readHead().status
            #expect(status != 200, "CONNECT \(host)")
        }
        // The same spellings reach another listener of this machine.
        let origin = origin()
        defer { origin.stop() }
        #expect(try page.fetch("http://localhost:\(origin.port)/").status == 200)
        // A reload keeps the listener in the list.
        #expect(try page.post("/v1/reload").status == 200)
        #expect(try page.fetch("http://127.0.0.1:\(port)/v1/requests").status == 508)
    }

    @Test("fetch opens neither the page's address nor that of metrics, which another program may use")
    func fetchOpensNothing() throws {
        let origin = origin()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "admin: {listen: '127.0.0.1:\(origin.port)'}\nmetrics: {listen: '127.0.0.1:\(origin.port)'}\n", to: "larder.yaml")
        let fetched = try CommandLineTests.larder(
            ["fetch", "-c", file, "--store", ":memory:", "-o", "\(folder.path)/a", "http://127.0.0.1:\(origin.port)/a"])
        #expect(fetched.code == 0, "\(fetched.talk)")
        #expect(try String(contentsOfFile: "\(folder.path)/a", encoding: .utf8) == "hello")
    }

    @Test("admin.listen serves the page at a fixed address, which must be of this machine alone")
    func listens() throws {
        let page = try Page("admin: {listen: '127.0.0.1:0'}\n")
        #expect(page.served.said.contains("  page      http://127.0.0.1:\(page.port)/ (`larder ui` prints a link)"))
        #expect(try page.get("/v1/status").status == 200)
        #expect(try page.fetch("http://127.0.0.1:\(page.port)/").status == 508)
        let folder = try TemporaryFolder()
        let file = try folder.write("admin: {listen: '0.0.0.0:3190'}\n", to: "larder.yaml")
        let refused = try CommandLineTests.larder(["config", "check", "-c", file])
        #expect(refused.code == 2 && refused.talk.contains("admin.listen: other machines can reach 0.0.0.0:3190"))
        let mapped = try CommandLineTests.larder("config", "check", "--set", "admin.listen='[::ffff:127.0.0.1]:3190'")
        #expect(mapped.code == 2 && mapped.talk.contains("write 127.0.0.1:3190"))
    }
}
