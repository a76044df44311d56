import Foundation
import HTTPMessage
import Testing
import TestSupport

/// Every rule of `config/larder.example.yaml`, over real sockets.
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

    /// The file as it is, with its hosts on loopback.
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

    /// Each answer is another one, so that a stored one is known by its number.
    private func counting(_ fields: String) throws -> Stage {
        let counter = Counter()
        return try stage { _, connection in
            let number = counter.next()
            return connection.respond(fields: fields + "ETag: \"\(number)\"\r\n", body: "\(number)")
        }
    }

    // MARK: Deny

    @Test("Deny by host", arguments: ["tracker.example", "sub.tracker.example", "TRACKER.example."])
    func deniesHosts(host: String) throws {
        let stage = try stage { _, connection in connection.respond() }
        let response = try stage.fetch("/", host: host)
        #expect(response.status == 403 && response.code == "denied_by_rule")
        #expect(try response.json["rule"] as? String == "no tracking")
        #expect(try response.json["reason"] as? String == "tracking is not allowed here")
        #expect(stage.requestCount() == 0)
    }

    @Test("Deny by port")
    func deniesPorts() throws {
        let stage = try stage { _, connection in connection.respond() }
        let client = try stage.client()
        client.send("GET http://www.example:25/ HTTP/1.1\r\nHost: www.example:25\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 403)
        #expect(try response.json["rule"] as? String == "no mail ports")
    }

    @Test(
        "Deny by path, in every spelling",
        arguments: ["/admin", "/admin/x", "/%61dmin/x", "//admin/x", "/x/../admin/x", "/x/%2e%2e/admin/x", "/./admin"])
    func deniesPaths(path: String) throws {
        let stage = try stage { _, connection in connection.respond(body: "shop") }
        let response = try stage.fetch(path, host: "shop.example")
        #expect(response.status == 403)
        #expect(try stage.fetch("/catalogue", host: "shop.example").text == "shop")
        #expect(try stage.fetch("/admin", host: "www.example").text == "shop")
    }

    // MARK: Fields

    @Test("Fields of a request: remove, default, set, append")
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

    @Test("Fields of a response: remove, default, set, append")
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

    @Test("use_protocol: stored by the origin's words")
    func useProtocol() throws {
        let stage = try counting(Self.fresh)
        for _ in 0..<2 { #expect(try stage.fetch("/", host: "www.example").text == "1") }
    }

    @Test("reload: always fetched")
    func reload() throws {
        let stage = try counting(Self.fresh)
        for turn in 1...2 {
            let response = try stage.fetch("/", host: "build.example")
            #expect(response.text == "\(turn)" && response.cacheStatus.contains("fwd=bypass"))
        }
    }

    @Test("reload_all: always fetched, and caches further up are told")
    func reloadAll() throws {
        let stage = try counting(Self.fresh)
        for turn in 1...2 { #expect(try stage.fetch("/", host: "nightly.example").text == "\(turn)") }
        let request = try #require(stage.origin.requestHeads.last.map { OriginRequest(head: $0) })
        #expect(request["Cache-Control"]?.contains("no-cache") == true)
    }

    @Test("stored_else_load: of any age, even what asks to be asked again")
    func storedElseLoad() throws {
        let stage = try counting("Cache-Control: max-age=0, must-revalidate\r\n")
        for _ in 0..<2 { #expect(try stage.fetch("/a/b.deb", host: "packages.example").text == "1") }
        #expect(
            try stage.fetch("/a/b.deb", host: "packages.example").cacheStatus.contains(
                "\"rule whatever is stored, else fetch overrode "))
        for turn in 2...3 { #expect(try stage.fetch("/a/b.txt", host: "packages.example").text == "\(turn)") }
    }

    @Test("stored_only: 504 where nothing is stored, and nobody is asked")
    func storedOnly() throws {
        let stage = try counting(Self.fresh)
        let response = try stage.fetch("/", host: "archive.example")
        #expect(response.status == 504 && response.code == "cache_miss_only_if_cached")
        #expect(stage.requestCount() == 0)
    }

    @Test("revalidate: the origin is asked each time")
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

    @Test("ttl: a lifetime where the origin gives none, and its own word where it does")
    func timeToLive() throws {
        let silent = try counting("")
        for _ in 0..<2 { #expect(try silent.fetch("/a/b.png", host: "images.example").text == "1") }
        let speaking = try counting("Cache-Control: max-age=0\r\n")
        for turn in 1...2 { #expect(try speaking.fetch("/a/b.png", host: "images.example").text == "\(turn)") }
    }

    @Test("ttl by status: errors are kept for as long as it says, whatever else stands there", arguments: [404, 410, 500, 503])
    func lifetimeByStatus(status: Int) throws {
        let counter = Counter()
        let stage = try stage { request, connection in
            connection.respond(request.target == "/ok" ? "200 OK" : "\(status) As-Told", body: "\(counter.next())")
        }
        for _ in 0..<2 { #expect(try stage.fetch("/gone", host: "flaky.example").text == "1") }
        for turn in 2...3 { #expect(try stage.fetch("/ok", host: "flaky.example").text == "\(turn)") }
        for turn in 4...5 { #expect(try stage.fetch("/gone", host: "www.example").text == "\(turn)") }
    }

    @Test("heuristic: false asks each time where the origin gave no lifetime")
    func guessesNothing() throws {
        let stage = try counting("Last-Modified: Mon, 06 Jul 2020 10:00:00 GMT\r\n")
        for turn in 1...2 { #expect(try stage.fetch("/", host: "exact.example").text == "\(turn)") }
        for _ in 0..<2 { #expect(try stage.fetch("/", host: "www.example").text == "3") }
    }

    @Test(
        "ignore and set_cookie: always: stored past what the origin forbids, said so, and nowhere else",
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
        "key: what counts and what does not",
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

    @Test("grace: stale for so long, while the origin is asked, unless the origin forbids it")
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

    @Test("store: never keeps nothing")
    func storeNever() throws {
        let stage = try counting(Self.fresh)
        for turn in 1...2 { #expect(try stage.fetch("/", host: "private.example").text == "\(turn)") }
    }

    // MARK: Validation

    @Test(
        "block: 502 with what was found, and nothing kept",
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

    @Test("block: what is good passes, and is kept", arguments: ["application/json", "application/problem+json; charset=utf-8"])
    func passesGood(type: String) throws {
        let stage = try stage { _, connection in
            connection.respond(fields: Self.fresh + "Content-Type: \(type)\r\n", body: "{\"a\": [1, 2]}")
        }
        for _ in 0..<2 { #expect(try stage.fetch("/v1/a", host: "strict.example").text == "{\"a\": [1, 2]}") }
        #expect(stage.requestCount() == 1)
    }

    @Test("block: under a body check the range is cut from the checked whole")
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

    @Test("annotate: passed on with a note, and not kept")
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

    @Test("pass: passed on as it is, and not kept")
    func passes() throws {
        let stage = try stage { _, connection in connection.respond(fields: Self.fresh, body: "{not json") }
        for turn in 1...2 {
            let response = try stage.fetch("/", host: "counted.example")
            #expect(response.status == 200 && response.text == "{not json")
            #expect(stage.requestCount() == turn)
        }
    }

    @Test("stale: the last good one in place of one that fails, never past what the origin forbids")
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

    @Test("An image, and not a page")
    func wantsImages() throws {
        let stage = try stage { _, connection in connection.respond(body: "<p>") }
        let response = try stage.fetch("/", host: "pictures.example")
        #expect(response.status == 502 && response.code == "malformed_image")
    }

    // MARK: Transforms

    @Test(
        "What is made of content",
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

    @Test("A text in UTF-8, whatever it came in")
    func reencodes() throws {
        let stage = try stage { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n")
            return connection.send(bytes: [0xC4, 0xC1])
        }
        let response = try stage.fetch("/a.txt", host: "texts.example")
        #expect(response.text == "да" && response["Content-Type"] == "text/plain; charset=utf-8")
    }

    // MARK: Mistakes

    @Test("A wrong line in it is reported with line and column")
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
