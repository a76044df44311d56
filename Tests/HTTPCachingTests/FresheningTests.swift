import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Freshening by 304 (RFC 9111 §4.3.4, §3.2)")
struct FresheningTests {
    static let later = arrival.advanced(seconds: 100)

    static func freshen(
        _ stored: StoredResponse, _ response: ResponseHead, request: RequestHead = request(), overrides: CacheOverrides = .none
    ) -> FresheningOutcome {
        Freshening.freshened(
            stored, by: response, request: request, overrides: overrides, requestTime: later, responseTime: later)
    }

    static func freshened(_ stored: StoredResponse, _ response: ResponseHead, request: RequestHead = request()) throws
        -> StoredResponse
    {
        let outcome = freshen(stored, response, request: request)
        guard case .freshened(let new) = outcome else {
            Issue.record("\(outcome)")
            throw NotStored()
        }
        return new
    }

    @Test(
        "A 304 identifies a stored response by its validators",
        arguments: [
            ([#"ETag: "x""#], [#"ETag: "x""#], true), ([#"ETag: "x""#], [#"ETag: "y""#], false),
            // A strong validator that the stored response does not have must not update it.
            ([#"ETag: W/"x""#], [#"ETag: "x""#], false), ([#"ETag: "x""#], [#"ETag: W/"x""#], true),
            ([#"ETag: W/"x""#], [#"ETag: W/"x""#], true), ([#"ETag: W/"x""#], [#"ETag: W/"y""#], false),
            (["Last-Modified: " + date(-100)], ["Last-Modified: " + date(-100)], true),
            (["Last-Modified: " + date(-100)], ["Last-Modified: " + date(-99)], false),
            (["Last-Modified: " + date(-100)], [#"ETag: "x""#], false),
            (["Last-Modified: " + date(-100)], [#"ETag: "x""#, "Last-Modified: " + date(-100)], true),
            // Modified in the second of the Date: too weak to replace a strong tag.
            (["Last-Modified: " + date(0)], [#"ETag: "x""#, "Last-Modified: " + date(0)], false),
            ([#"ETag: "x""#], ["Last-Modified: " + date(-100)], false),
            // Without any validator it answers the preconditions that were sent, this response's own.
            ([#"ETag: "x""#], ["X: 1"], true), (["Last-Modified: " + date(-100)], ["X: 1"], true),
        ])
    func identifies(old: [String], new: [String], isIdentified: Bool) throws {
        func add(_ fields: [String], to head: ResponseHead) -> ResponseHead {
            var head = head
            for field in fields {
                let parts = field.split(separator: ": ", maxSplits: 1)
                head.fields.append(name: String(parts[0]), value: String(parts[1]))
            }
            return head
        }
        let stored = try stored(add(old, to: response(200, "Cache-Control: max-age=60")))
        let validation = add(new, to: response(304, "Date: " + date(100)))
        #expect(Freshening.identified(by: validation, among: [stored], asked: stored).count == (isIdentified ? 1 : 0))
    }

    @Test(
        "A 304 identifies all responses with its strong validator, or the most recent one with a weak validator",
        arguments: [
            ([#"ETag: "x""#, #"ETag: "x""#, #"ETag: "y""#], #"ETag: "x""#, [0, 1]),
            ([#"ETag: "y""#, #"ETag: "x""#, #"ETag: "x""#], #"ETag: "x""#, [1, 2]),
            ([#"ETag: "x""#, #"ETag: "x""#], #"ETag: W/"x""#, [0]), ([#"ETag: "y""#, #"ETag: W/"x""#], #"ETag: W/"x""#, [1]),
            ([#"ETag: W/"x""#, #"ETag: "x""#], #"ETag: "x""#, [1]), ([#"ETag: "y""#, #"ETag: "z""#], #"ETag: "x""#, []),
            (["Last-Modified: " + date(-100), "Last-Modified: " + date(-100)], "Last-Modified: " + date(-100), [0]),
            (["Last-Modified: " + date(-99), "Last-Modified: " + date(-100)], "Last-Modified: " + date(-100), [1]),
            ([#"ETag: "x""#, #"ETag: "x""#], "X: 1", [1]),
        ])
    func identifiesSeveral(old: [String], new: String, places: [Int]) throws {
        let candidates = try old.map { try stored(response(200, "Cache-Control: max-age=60", $0)) }
        let asked = try #require(candidates.last)
        let identified = Freshening.identified(by: response(304, new), among: candidates, asked: asked)
        #expect(identified.map { one in candidates.firstIndex { $0 === one } } == places)
    }

    @Test("A 304 does not identify a stored response with another status if a 200 was validated")
    func identifiesRepresentations() throws {
        let missing = try stored(response(404, "Cache-Control: max-age=60", #"ETag: "x""#))
        let asked = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "x""#))
        let identified = Freshening.identified(by: response(304, #"ETag: "x""#), among: [missing, asked], asked: asked)
        #expect(identified.count == 1 && identified[0] === asked)
    }

    @Test("The 304's fields replace the stored ones, all lines of a name together")
    func updatesFields() throws {
        let old = try stored(
            response(
                200, "Cache-Control: max-age=60", #"ETag: "x""#, "Content-Type: text/html", "X-Own: 1", "X-Own: 2", "X-Kept: 1",
                "Content-Length: 10", "Age: 30"))
        let new = try Self.freshened(
            old,
            response(
                304, "Date: " + date(100), "Cache-Control: max-age=600", #"ETag: "x""#, "x-own: 3", "X-New: 1",
                "Content-Length: 999",
                "Connection: x-hop", "X-Hop: 1", "Keep-Alive: 1", "Proxy-Authenticate: Basic", "Content-Range: bytes 0-1/2"))
        let fields = new.head.fields
        #expect(fields.values(of: "cache-control") == ["max-age=600"])
        #expect(fields.values(of: "x-own") == ["3"])
        #expect(fields.values(of: "x-new") == ["1"])
        #expect(fields.values(of: "x-kept") == ["1"])
        #expect(fields.values(of: "content-type") == ["text/html"])
        #expect(fields.values(of: "date") == [date(100)])
        for name in ["x-hop", "keep-alive", "connection", "proxy-authenticate", "content-range", "age"] {
            #expect(fields.values(of: name) == [], "\(name)")
        }
        #expect(text(new.preparedHead).contains("Content-Length: 10\r\n"))
        #expect(!text(new.preparedHead).contains("999"))
        #expect(new.head.status == .ok)
        #expect(new.body.length == old.body.length)
    }

    @Test("Age and lifetime start again")
    func beginsAgain() throws {
        let old = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "x""#, "Age: 30"))
        let new = try Self.freshened(old, response(304, "Date: " + date(100), #"ETag: "x""#))
        #expect(new.facts.initialAgeInMilliseconds == 0)
        #expect(new.facts.responseTime == Self.later)
        #expect(reuse(new.facts, after: 159).isFresh)
        #expect(!reuse(new.facts, after: 160).isFresh)
        let aged = try Self.freshened(old, response(304, "Date: " + date(100), #"ETag: "x""#, "Age: 10"))
        #expect(aged.facts.initialAgeInMilliseconds == 10_000)
    }

    @Test("A 304 without Date gets the time of reception (RFC 9110 §6.6.1)")
    func datesUndated() throws {
        let old = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "x""#))
        let new = try Self.freshened(old, response(304, #"ETag: "x""#, date: false))
        #expect(new.head.fields.values(of: "date") == [date(100)])
        #expect(reuse(new.facts, after: 159).isFresh)
    }

    @Test(
        "A 304 that forbids storing is used for this request, and the stored response is removed",
        arguments: ["no-store", "private"])
    func removesForbidden(value: String) throws {
        let old = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "x""#))
        let outcome = Self.freshen(old, response(304, "Date: " + date(100), #"ETag: "x""#, "Cache-Control: \(value)"))
        guard case .usedAndRemoved(let once, let refusal) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(refusal.word.description == value.replacing("-", with: "_"))
        #expect(once.head.fields.values(of: "cache-control") == [value])
    }

    @Test(
        "A request that does not allow storing leaves the stored response unchanged",
        arguments: [
            ("Cache-Control: no-store", StorageRefusal.requestNoStore), ("Authorization: Basic eDp5", .authorization),
            ("X-Forwarded-Host: evil.example", .unkeyedInput),
        ])
    func leavesOthers(field: String, refusal: StorageRefusal) throws {
        let old = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "x""#))
        let outcome = Self.freshen(old, response(304, "Date: " + date(100), #"ETag: "x""#), request: get(field))
        guard case .usedOnce(_, refusal) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test("T25: a cookie in the 304 goes to the client that sent the request, and into no stored response")
    func keepsCookiesApart() throws {
        let old = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "x""#))
        let validation = response(304, "Date: " + date(100), #"ETag: "x""#, "Set-Cookie: session=a", "Set-Cookie: b=c")
        let new = try Self.freshened(old, validation)
        #expect(new.head.fields.values(of: "set-cookie") == [])
        #expect(!text(new.preparedHead).contains("session"))
        var output: [UInt8] = []
        Freshening.writeSetCookie(of: validation, into: &output)
        #expect(text(output) == "Set-Cookie: session=a\r\nSet-Cookie: b=c\r\n")
    }

    @Test("T25: fields that the 304 makes private are not stored")
    func keepsPrivateFieldsApart() throws {
        let old = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "x""#, "X-User: old"))
        let new = try Self.freshened(
            old,
            response(304, "Date: " + date(100), #"ETag: "x""#, #"Cache-Control: max-age=60, private="X-User""#, "X-User: secret"))
        #expect(new.head.fields.values(of: "x-user") == [])
    }

    @Test("A new Vary is evaluated with the current request")
    func updatesVary() throws {
        let german = get("Accept-Language: de")
        let old = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "x""#), to: german)
        let new = try Self.freshened(
            old, response(304, "Date: " + date(100), #"ETag: "x""#, "Vary: Accept-Language"), request: german)
        #expect(new.nominatedFields == canonical(("accept-language", "de")))
    }
}

@Suite("Invalidation (RFC 9111 §4.4)")
struct InvalidationTests {
    static func keys(_ method: String, _ status: UInt16 = 200, _ fields: String..., target: String = "http://example.com/dir/a?q")
        -> [String]
    {
        var head = response(status)
        for field in fields {
            let parts = field.split(separator: ": ", maxSplits: 1)
            head.fields.append(name: String(parts[0]), value: String(parts[1]))
        }
        return Invalidation.keys(request: request(method, target), response: head).map(text)
    }

    @Test(
        "A successful request with an unsafe or unknown method invalidates its target",
        arguments: ["POST", "PUT", "DELETE", "PATCH", "BREW"])
    func invalidatesTarget(method: String) {
        for status in [200, 201, 204, 302, 303, 399] as [UInt16] {
            #expect(Self.keys(method, status) == ["http://example.com:80/dir/a?q"])
        }
        for status in [100, 400, 404, 412, 500, 503] as [UInt16] { #expect(Self.keys(method, status) == []) }
    }

    @Test("A safe method invalidates nothing", arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"])
    func safeMethodsDoNot(method: String) {
        #expect(Self.keys(method, 200, "Location: /b") == [])
    }

    @Test(
        "Location and Content-Location of the same origin are invalidated too",
        arguments: [
            ("/b", "http://example.com:80/b"), ("b?x", "http://example.com:80/dir/b?x"), ("../b", "http://example.com:80/b"),
            ("./../../b/./c", "http://example.com:80/b/c"), ("http://EXAMPLE.com/b#f", "http://example.com:80/b"),
            ("http://example.com:80/b", "http://example.com:80/b"), ("//example.com/b", "http://example.com:80/b"),
            ("HTTP://example.com", "http://example.com:80/"), ("?z", "http://example.com:80/dir/a?z"),
            ("b/..", "http://example.com:80/dir/"),
            ("http://example.com:/b", "http://example.com:80/b"), ("/b/../c?d/../e", "http://example.com:80/c?d/../e"),
            ("x:y", nil),
            ("..", "http://example.com:80/"), ("http://example.com?x", "http://example.com:80/?x"),
            // Another origin: a different scheme, host or port.
            ("http://example.org/b", nil), ("https://example.com/b", nil), ("http://example.com:8080/b", nil),
            ("//example.org/b", nil),
            ("http://user@example.com/b", nil), ("http://example.com.evil.example/", nil), ("http:b", nil),
            ("http://example.com:99999/b", nil),
            ("/b c", nil), ("mailto:a@example.com", nil), ("http://", nil),
        ] as [(String, String?)])
    func invalidatesReferences(reference: String, key: String?) {
        let target = "http://example.com:80/dir/a?q"
        for name in ["Location", "Content-Location"] {
            #expect(Self.keys("POST", 201, "\(name): \(reference)") == [target] + (key.map { [$0] } ?? []), "\(name)")
        }
    }

    @Test("A Location equal to the target adds no key, and two Location lines are ignored")
    func namesOnce() {
        #expect(Self.keys("PUT", 200, "Content-Location: /dir/a?q", "Location: #top") == ["http://example.com:80/dir/a?q"])
        #expect(Self.keys("PUT", 200, "Location: /b", "Location: /c") == ["http://example.com:80/dir/a?q"])
    }

    @Test("IPv6 hosts are compared with their brackets")
    func comparesIPv6() {
        let target = "http://[::1]:8080/a"
        #expect(
            Self.keys("POST", 200, "Location: http://[::1]:8080/b", target: target) == [
                "http://[::1]:8080/a", "http://[::1]:8080/b",
            ])
        #expect(Self.keys("POST", 200, "Location: http://[::2]:8080/b", target: target) == ["http://[::1]:8080/a"])
    }
}
