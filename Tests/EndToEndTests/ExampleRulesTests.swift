import Foundation
import HTTPMessage
import Testing
import TestSupport

/// Runs every rule of `config/larder.example.yaml` over real sockets.
@Suite("The rules of the example file")
struct ExampleRulesTests {
    private static let hosts = [
        "tracker.example", "sub.tracker.example", "shop.example", "api.example", "www.example", "build.example",
        "nightly.example",
        "packages.example", "archive.example", "docs.example", "images.example", "private.example", "strict.example",
        "lenient.example", "counted.example", "feed.example", "flaky.example", "exact.example", "mine.example",
        "news.example", "mirror.example", "eu.mirror.example", "tenants.example", "search.example", "stream.example",
        "slow.example",
        "bulletin.example", "pictures.example", "sparse.example", "legacy.example", "feeds.example", "auth.example",
        "texts.example",
    ]

    /// The file unchanged, with its hosts mapped to loopback.
    private static func settings() throws -> String {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let text = try String(contentsOf: root.appending(path: "config/larder.example.yaml"), encoding: .utf8)
        return text + "\nresolve: {" + hosts.map { "\($0): 127.0.0.1" }.joined(separator: ", ") + "}\n"
    }

    private func stage(_ answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool) throws -> Stage {
        try Stage(Self.settings(), answer: answer)
    }

    private static let fresh = "Cache-Control: max-age=600\r\n"

    /// Each response has its own number, which shows whether it was stored.
    private func counting(_ fields: String) throws -> Stage {
        let counter = Counter()
        return try stage { _, connection in
            let number = counter.next()
            return connection.respond(fields: fields + "ETag: \"\(number)\"\r\n", body: "\(number)")
        }
    }

    // MARK: Deny

    @Test("A rule denies by host", arguments: ["tracker.example", "sub.tracker.example", "TRACKER.example."])
    func deniesHosts(host: String) throws {
        let stage = try stage { _, connection in connection.respond() }
        let response = try stage.fetch("/", host: host)
        #expect(response.status == 403 && response.code == "denied_by_rule")
        #expect(try response.json["rule"] as? String == "no tracking")
        #expect(try response.json["reason"] as? String == "tracking is not allowed here")
        #expect(stage.requestCount() == 0)
    }

    @Test("A rule denies by port")
    func deniesPorts() throws {
        let stage = try stage { _, connection in connection.respond() }
        let client = try stage.client()
        client.send("GET http://www.example:25/ HTTP/1.1\r\nHost: www.example:25\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 403)
        #expect(try response.json["rule"] as? String == "no mail ports")
    }

    @Test(
        "A rule denies by path, in every spelling",
        arguments: ["/admin", "/admin/x", "/%61dmin/x", "//admin/x", "/x/../admin/x", "/x/%2e%2e/admin/x", "/./admin"])
    func deniesPaths(path: String) throws {
        let stage = try stage { _, connection in connection.respond(body: "shop") }
        let response = try stage.fetch(path, host: "shop.example")
        #expect(response.status == 403)
        #expect(try stage.fetch("/catalogue", host: "shop.example").text == "shop")
        #expect(try stage.fetch("/admin", host: "www.example").text == "shop")
    }

    // MARK: Fields

    @Test("A rule edits request fields: remove, default, set, append")
    func editsRequests() throws {
        let stage = try stage { _, connection in connection.respond() }
        _ = try stage.fetch(
            "/", host: "api.example",
            fields: "X-Debug: 1\r\nx-debug: 2\r\nX-Environment: mine\r\nX-Tag: zero\r\nAccept-Language: de\r\n")
        _ = try stage.fetch("/other", host: "api.example")
        let requests = stage.origin.requestHeads.map { OriginRequest(head: $0) }
        #expect(requests[0]["X-Debug"] == nil)
        #expect(requests[0]["Accept-Language"] == "de")
        #expect(requests[0]["X-Environment"] == "ci")
        #expect(requests[0].values("X-Tag") == ["zero", "one", "two"])
        #expect(requests[1]["Accept-Language"] == "en")
    }

    @Test("A rule edits response fields: remove, default, set, append")
    func editsResponses() throws {
        let stage = try stage { request, connection in
            connection.respond(
                fields: "Server: secret/1.0\r\nX-Frame-Options: SAMEORIGIN\r\nVary: Accept\r\n"
                    + (request.target == "/own" ? Self.fresh : ""), body: "x")
        }
        let plain = try stage.fetch("/plain", host: "api.example")
        #expect(plain["Server"] == nil)
        #expect(plain["Cache-Control"] == "no-cache")
        #expect(plain["X-Frame-Options"] == "DENY")
        #expect(plain.values("Vary") == ["Accept", "X-Environment"])
        for _ in 0..<2 {
            let own = try stage.fetch("/own", host: "api.example")
            #expect(own["Cache-Control"] == "max-age=600" && own["X-Frame-Options"] == "DENY" && own["Server"] == nil)
            #expect(own.text == "x")
        }
        #expect(try stage.fetch("/plain", method: "POST", host: "api.example")["Server"] == "secret/1.0")
    }

    // MARK: Cache

    @Test("use_protocol: responses are stored as the origin says")
    func useProtocol() throws {
        let stage = try counting(Self.fresh)
        for _ in 0..<2 { #expect(try stage.fetch("/", host: "www.example").text == "1") }
    }

    @Test("reload: each request is fetched")
    func reload() throws {
        let stage = try counting(Self.fresh)
        for turn in 1...2 {
            let response = try stage.fetch("/", host: "build.example")
            #expect(response.text == "\(turn)" && response.cacheStatus.contains("fwd=bypass"))
        }
    }

    @Test("reload_all: each request is fetched, with no-cache for upstream caches")
    func reloadAll() throws {
        let stage = try counting(Self.fresh)
        for turn in 1...2 { #expect(try stage.fetch("/", host: "nightly.example").text == "\(turn)") }
        let request = try #require(stage.origin.requestHeads.last.map { OriginRequest(head: $0) })
        #expect(request["Cache-Control"]?.contains("no-cache") == true)
    }

    @Test("stored_else_load: stored responses are served at any age, even with must-revalidate")
    func storedElseLoad() throws {
        let stage = try counting("Cache-Control: max-age=0, must-revalidate\r\n")
        for _ in 0..<2 { #expect(try stage.fetch("/a/b.deb", host: "packages.example").text == "1") }
        #expect(
            try stage.fetch("/a/b.deb", host: "packages.example").cacheStatus.contains(
                "\"rule whatever is stored, else fetch overrode "))
        for turn in 2...3 { #expect(try stage.fetch("/a/b.txt", host: "packages.example").text == "\(turn)") }
    }

    @Test("stored_only: 504 if nothing is stored, and nothing is forwarded")
    func storedOnly() throws {
        let stage = try counting(Self.fresh)
        let response = try stage.fetch("/", host: "archive.example")
        #expect(response.status == 504 && response.code == "cache_miss_only_if_cached")
        #expect(stage.requestCount() == 0)
    }

    @Test("revalidate: each request is validated with the origin")
    func revalidate() throws {
        let stage = try stage { request, connection in
            request["If-None-Match"] == "\"v\""
                ? connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\n\r\n")
                : connection.respond(fields: Self.fresh + "ETag: \"v\"\r\n", body: "kept")
        }
        for _ in 0..<3 { #expect(try stage.fetch("/", host: "docs.example").text == "kept") }
        #expect(stage.requestCount() == 3)
        #expect(stage.origin.requestHeads.dropFirst().allSatisfy { $0.contains("If-None-Match") })
    }

    @Test("ttl: a lifetime for responses without one; the origin's own lifetime holds otherwise")
    func timeToLive() throws {
        let silent = try counting("")
        for _ in 0..<2 { #expect(try silent.fetch("/a/b.png", host: "images.example").text == "1") }
        let speaking = try counting("Cache-Control: max-age=0\r\n")
        for turn in 1...2 { #expect(try speaking.fetch("/a/b.png", host: "images.example").text == "\(turn)") }
    }

    @Test(
        "ttl by status: errors are stored for the time of their status, and other responses are not",
        arguments: [404, 410, 500, 503])
    func lifetimeByStatus(status: Int) throws {
        let counter = Counter()
        let stage = try stage { request, connection in
            connection.respond(request.target == "/ok" ? "200 OK" : "\(status) As-Told", body: "\(counter.next())")
        }
        for _ in 0..<2 { #expect(try stage.fetch("/gone", host: "flaky.example").text == "1") }
        for turn in 2...3 { #expect(try stage.fetch("/ok", host: "flaky.example").text == "\(turn)") }
        for turn in 4...5 { #expect(try stage.fetch("/gone", host: "www.example").text == "\(turn)") }
    }

    @Test("heuristic: false fetches each time if the origin gave no lifetime")
    func guessesNothing() throws {
        let stage = try counting("Last-Modified: Mon, 06 Jul 2020 10:00:00 GMT\r\n")
        for turn in 1...2 { #expect(try stage.fetch("/", host: "exact.example").text == "\(turn)") }
        for _ in 0..<2 { #expect(try stage.fetch("/", host: "www.example").text == "3") }
    }

    @Test(
        "ignore and set_cookie: always: forbidden responses are stored, with the reason in Cache-Status, and only for that rule",
        arguments: [
            ("Cache-Control: no-store\r\n", "no-store"), ("Cache-Control: private\r\n", "private"),
            ("Set-Cookie: a=b\r\n", "Set-Cookie"),
        ])
    func ignoresDirectives(field: String, word: String) throws {
        let stage = try counting(field)
        for _ in 0..<2 { #expect(try stage.fetch("/", host: "mine.example").text == "1") }
        #expect(try stage.fetch("/", host: "mine.example").cacheStatus.hasSuffix("the same overrode \(word)\""))
        for turn in 2...3 { #expect(try stage.fetch("/", host: "images.example").text == "\(turn)") }
    }

    @Test(
        "key: query parameters and hosts that matter, and those that do not",
        arguments: [
            ("news.example", "/a?b=1&utm_source=x&a=2", "news.example", "/a?a=2&gclid=3&b=1", true),
            ("news.example", "/a?b=1", "news.example", "/a?b=2", false),
            ("mirror.example", "/a?id=1&x=1", "eu.mirror.example", "/a?id=1", true),
            ("mirror.example", "/a?id=1", "eu.mirror.example", "/a?id=1&page=2", false),
        ])
    func keys(firstHost: String, first: String, secondHost: String, second: String, isShared: Bool) throws {
        let stage = try counting(Self.fresh)
        _ = try stage.fetch(first, host: firstHost)
        #expect(try stage.fetch(second, host: secondHost).text == (isShared ? "1" : "2"))
    }

    @Test("key: fields, and content of QUERY and POST")
    func keysFieldsAndContent() throws {
        let stage = try counting(Self.fresh)
        for _ in 0..<2 {
            #expect(try stage.fetch("/", host: "tenants.example", fields: "X-Tenant: a\r\n").text == "1")
            #expect(try stage.fetch("/", host: "tenants.example", fields: "X-Tenant: b\r\n").text == "2")
            #expect(try stage.fetch("/", method: "QUERY", host: "search.example", body: "q").text == "3")
            #expect(try stage.fetch("/", method: "POST", host: "search.example", body: "q").text == "4")
        }
    }

    @Test("grace: a stale response is served during a validation, unless the origin forbids it")
    func servesWithinGrace() throws {
        let stale = "Cache-Control: max-age=60\r\nAge: 100\r\nETag: \"v\"\r\n"
        let stage = try counting(stale)
        #expect(try stage.fetch("/", host: "bulletin.example").text == "1")
        let second = try stage.fetch("/", host: "bulletin.example")
        #expect(second.text == "1" && second.cacheStatus.contains("grace"))
        #expect(try stage.fetch("/", host: "www.example").text != "1")
        let strict = try counting(stale.replacing("max-age=60", with: "max-age=60, must-revalidate"))
        for turn in 1...2 { #expect(try strict.fetch("/", host: "bulletin.example").text == "\(turn)") }
    }

    @Test("store: never stores nothing")
    func storeNever() throws {
        let stage = try counting(Self.fresh)
        for turn in 1...2 { #expect(try stage.fetch("/", host: "private.example").text == "\(turn)") }
    }

    // MARK: Validation

    @Test(
        "block: a 502 with the reason, and nothing is stored",
        arguments: [
            ("500 Internal Server Error", "application/json", "{}", "unacceptable_status"),
            ("200 OK", "text/html", "{}", "unacceptable_content_type"),
            ("200 OK", "application/json", "{\"a\":", "malformed_json"),
        ])
    func blocks(status: String, type: String, body: String, code: String) throws {
        let stage = try stage { _, connection in
            connection.respond(status, fields: Self.fresh + "Content-Type: \(type)\r\n", body: body)
        }
        for turn in 1...2 {
            let response = try stage.fetch("/v1/a", host: "strict.example")
            #expect(response.status == 502 && response.code == code)
            #expect(stage.requestCount() == turn)
        }
        #expect(try stage.fetch("/v2/a", host: "strict.example").text == body)
    }

    @Test(
        "block: a valid response passes and is stored",
        arguments: ["application/json", "application/problem+json; charset=utf-8"])
    func passesGood(type: String) throws {
        let stage = try stage { _, connection in
            connection.respond(fields: Self.fresh + "Content-Type: \(type)\r\n", body: "{\"a\": [1, 2]}")
        }
        for _ in 0..<2 { #expect(try stage.fetch("/v1/a", host: "strict.example").text == "{\"a\": [1, 2]}") }
        #expect(stage.requestCount() == 1)
    }

    @Test("block: with body validation a range is cut from the validated body")
    func cutsRanges() throws {
        let stage = try stage { request, connection in
            request["Range"] == nil
                ? connection.respond(fields: "Content-Type: application/json\r\n", body: "[0,1,2,3]")
                : connection.respond("400 No")
        }
        let response = try stage.fetch("/v1/a", host: "strict.example", fields: "Range: bytes=1-3\r\n")
        #expect(response.status == 206 && response.text == "0,1")
        #expect(response["Content-Range"] == "bytes 1-3/9")
    }

    @Test("annotate: an invalid response passes with a note and is not stored")
    func annotates() throws {
        let stage = try stage { _, connection in
            connection.respond(fields: Self.fresh + "Content-Type: text/html\r\n", body: "<p>")
        }
        for turn in 1...2 {
            let response = try stage.fetch("/", host: "lenient.example")
            #expect(response.status == 200 && response.text == "<p>")
            #expect(response["Larder-Validation"] == "unacceptable_content_type")
            #expect(stage.requestCount() == turn)
        }
    }

    @Test("pass: an invalid response passes unchanged and is not stored")
    func passes() throws {
        let stage = try stage { _, connection in connection.respond(fields: Self.fresh, body: "{not json") }
        for turn in 1...2 {
            let response = try stage.fetch("/", host: "counted.example")
            #expect(response.status == 200 && response.text == "{not json")
            #expect(stage.requestCount() == turn)
        }
    }

    @Test("stale: the last valid response is served instead of one that fails")
    func servesStale() throws {
        let counter = Counter()
        let stage = try stage { _, connection in
            counter.next() == 1
                ? connection.respond(fields: "Cache-Control: max-age=0\r\nETag: \"v\"\r\n", body: "[\"good\"]")
                : connection.respond("500 Internal Server Error", body: "oops")
        }
        #expect(try stage.fetch("/", host: "feed.example").text == "[\"good\"]")
        for _ in 0..<2 {
            let stale = try stage.fetch("/", host: "feed.example")
            #expect(stale.status == 200 && stale.text == "[\"good\"]")
            #expect(stale.cacheStatus.contains("stale_on_failure"))
        }
    }

    @Test("A page in place of an image is blocked")
    func wantsImages() throws {
        let stage = try stage { _, connection in connection.respond(body: "<p>") }
        let response = try stage.fetch("/", host: "pictures.example")
        #expect(response.status == 502 && response.code == "malformed_image")
    }

    // MARK: Transforms

    @Test(
        "Transforms of content",
        arguments: [
            ("sparse.example", "/", "application/json", "{\"a\": null, \"b\": [null]}", "{\"b\":[]}"),
            (
                "legacy.example", "/a/b.plist", "application/x-plist",
                "<plist version='1.0'><array><true/><string>x</string></array></plist>", "[true,\"x\"]"
            ),
            ("feeds.example", "/", "text/xml", "<a><b>1</b><b>2</b></a>", "{\"a\":{\"b\":[\"1\",\"2\"]}}"),
            ("feeds.example", "/", "text/xml", "<a>", "<a>"),
            (
                "auth.example", "/", "application/json", "{\"token\": 1, \"user\": {\"name\": \"x\"}}",
                "{\"user\":{\"name\":\"nobody\"}}"
            ),
        ])
    func transforms(host: String, path: String, type: String, body: String, made: String) throws {
        let stage = try stage { _, connection in
            connection.respond(fields: Self.fresh + "Content-Type: \(type)\r\n", body: body)
        }
        for _ in 0..<2 { #expect(try stage.fetch(path, host: host).text == made) }
        #expect(stage.requestCount() == 1)
    }

    @Test("A text is converted to UTF-8")
    func reencodes() throws {
        let stage = try stage { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n")
            return connection.send(bytes: [0xC4, 0xC1])
        }
        let response = try stage.fetch("/a.txt", host: "texts.example")
        #expect(response.text == "да" && response["Content-Type"] == "text/plain; charset=utf-8")
    }

    // MARK: Mistakes

    @Test("An error in the file is reported with line and column")
    func reportsPlaces() throws {
        let text = try Self.settings()
        let wrong = text.replacing("cache: {policy: reload_all}", with: "cache: {policy: relaod_all}")
        try #require(wrong != text)
        let lines = wrong.split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.firstIndex { $0.contains("relaod_all") }) + 1
        let column = try #require(lines[line - 1].range(of: "relaod_all")).lowerBound.utf16Offset(in: lines[line - 1]) + 1
        do {
            _ = try TestProxy.settings(wrong)
            Issue.record("the mistake was not seen")
        } catch let refused as SettingsRefused {
            #expect(refused.problems.count == 1)
            #expect(refused.problems[0].hasPrefix("test.yaml:\(line):\(column): "), "\(refused.problems)")
            #expect(refused.problems[0].contains("reload_all"))
        }
    }
}
