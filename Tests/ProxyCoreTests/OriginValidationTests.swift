import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Validation with the origin (RFC 9111 §4.3)")
struct OriginValidationTests {
    let stale: [String] = ["Cache-Control: max-age=60", "ETag: \"v1\"", "Last-Modified: Tue, 14 Nov 2023 19:00:00 GMT"]

    private func stored(_ field: String = "X-Old: 1", control: String = "max-age=60") throws -> StoredResponse {
        try Messages.stored("Cache-Control: \(control)", stale[1], stale[2], field, age: 70)
    }

    @Test("A stale response is validated with its own validators, and a 304 freshens it")
    func freshens() throws {
        let book = try Playbook()
        let old = try stored()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([old]), [.joinFetch],
            .leads, [.fetch],
            .response(304, "Cache-Control: max-age=100", "ETag: \"v1\"", "X-New: 2"),
            [.discardUpstreamBody, .freshen, .releaseJoined, .sendStored],
            .delivered, [.finish])
        #expect(book.forwarded("if-none-match") == "\"v1\"")
        #expect(book.forwarded("if-modified-since") == "Tue, 14 Nov 2023 19:00:00 GMT")
        let head = try #require(book.written)
        #expect(head.status == 200)
        #expect(head["age"] == "0")
        #expect(head["cache-control"] == "max-age=100")
        #expect(head["x-new"] == "2")
        #expect(head["x-old"] == "1")
        #expect(head.cacheStatus == ["fwd": "stale", "fwd-status": "304"])
        #expect(book.exchange.trace.outcome == .revalidated)
        #expect(book.exchange.changes.freshened.map { $0.old === old } == [true])
        #expect(book.exchange.cache.selected !== old)
    }

    @Test("The client's own condition is evaluated after the 304, and not forwarded instead")
    func clientConditionAfterwards() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "If-None-Match: \"v1\""), [.lookUp(onDisk: false)],
            .found([try stored()]), [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .freshen, .sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == 304)
        let other = try Playbook()
        try other.run(
            .request("GET http://a.example/x", "If-None-Match: \"v0\""), [.lookUp(onDisk: false)],
            .found([try stored()]), [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .freshen, .sendStored],
            .delivered, [.finish])
        #expect(other.forwarded("if-none-match") == "\"v1\"")
        #expect(other.written?.status == 200)
    }

    @Test("A 200 replaces the validated response")
    func replaces() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored()]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Cache-Control: max-age=5", "ETag: \"v2\"", "Content-Length: 3"), [.relay(store: true)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "stale", "stored": ""])
        #expect(book.exchange.trace.outcome == .refreshed)
    }

    @Test("A 200 without Vary is stored without it, and the validated response is removed (RFC 9111 §4.1)")
    func replacesByVariant() throws {
        let sibling = try Messages.stored("Cache-Control: max-age=60", "Vary: Accept", with: ["Accept: a"])
        let stale = try Messages.stored("Cache-Control: max-age=1", "Vary: Accept", age: 9, with: ["Accept: b"])
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Accept: b"), [.lookUp(onDisk: false)],
            .found([sibling, stale]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Cache-Control: max-age=60", "Content-Length: 3"), [.relay(store: true)])
        #expect(book.stored("new")?.nominatedFields == [])
    }

    @Test("After a 304 for another representation, the request is sent again without our conditions")
    func notIdentified() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored()]), [.joinFetch],
            .leads, [.fetch],
            .response(304, "ETag: \"other\""), [.discardUpstreamBody, .fetch],
            .response(200, "Cache-Control: max-age=5", "Content-Length: 3"), [.relay(store: true)],
            .delivered, [.finish])
        #expect(book.forwarded("if-none-match") == nil)
        #expect(book.forwarded("if-modified-since") == nil)
    }

    @Test("A failure of that second request counts as a failed validation (RFC 9111 §5.2.2.2)")
    func failsAgain() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored(control: "max-age=60, must-revalidate")]), [.joinFetch],
            .leads, [.fetch],
            .response(304, "ETag: \"other\""), [.discardUpstreamBody, .fetch],
            .fails(.connectionRefused), [.releaseJoined, .sendError],
            .delivered, [.finish])
        #expect(book.written?.status == 504)
    }

    /// Two responses that match a request with `Accept: a` and `Accept-Language: b`, newest first, and one that does not.
    private func several(_ tags: [String]) throws -> [StoredResponse] {
        let fields = [
            ("Vary: Accept", "Accept: a"), ("Vary: Accept-Language", "Accept-Language: b"), ("Vary: Accept", "Accept: c"),
        ]
        return try zip(tags, fields.enumerated()).map { tag, row in
            let (number, (vary, nominated)) = row
            return try Messages.stored(
                "Cache-Control: max-age=60", "ETag: \(tag)", vary, "X-Number: \(number)", age: 70 + 10 * Int64(number),
                with: [nominated])
        }
    }

    @Test(
        "A 304 freshens each response that it identifies and the request matches; a weak validator only the most recent (RFC 9111 §4.3.4)",
        arguments: [
            (["\"v1\"", "\"v1\"", "\"v1\""], "\"v1\"", [1, 0]), (["\"v1\"", "\"v2\"", "\"v1\""], "\"v1\"", [0]),
            (["\"v2\"", "\"v1\"", "\"v1\""], "\"v1\"", [1]), (["W/\"v1\"", "W/\"v1\"", "\"v1\""], "W/\"v1\"", [0]),
        ])
    func freshensEach(tags: [String], tag: String, places: [Int]) throws {
        let book = try Playbook()
        let all = try several(tags)
        try book.run(
            .request("GET http://a.example/x", "Accept: a", "Accept-Language: b"), [.lookUp(onDisk: false)],
            .found(all), [.joinFetch],
            .leads, [.fetch],
            .response(304, "ETag: \(tag)", "Cache-Control: max-age=100"),
            [.discardUpstreamBody, .freshen, .releaseJoined, .sendStored],
            .delivered, [.finish])
        let freshened = book.exchange.changes.freshened
        #expect(freshened.map { one in all.firstIndex { $0 === one.old } } == places)
        #expect(freshened.allSatisfy { $0.new.facts.freshnessLifetime.seconds == 100 })
        // The most recent of them is the response.
        #expect(book.written?["x-number"] == places.last.map { "\($0)" })
    }

    @Test("The disk is queried before the origin, because the origin's response may concern responses that only the disk has")
    func asksDiskFirst() throws {
        let book = try Playbook()
        let all = try several(["\"v1\"", "\"v1\""])
        try book.run(
            .request("GET http://a.example/x", "Accept: a", "Accept-Language: b"), [.lookUp(onDisk: false)],
            .found([all[0]], isComplete: false), [.lookUp(onDisk: true)],
            .found(all), [.joinFetch],
            .leads, [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .freshen, .releaseJoined, .sendStored],
            .delivered, [.finish])
        #expect(book.exchange.changes.freshened.count == 2)
    }

    @Test("A 304 that forbids storing is used once, and the stored response is removed")
    func usedAndRemoved() throws {
        let book = try Playbook()
        let old = try stored()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([old]), [.joinFetch],
            .leads, [.fetch],
            .response(304, "Cache-Control: no-store", "ETag: \"v1\""),
            [.discardUpstreamBody, .remove, .releaseJoined, .sendStored],
            .delivered, [.finish])
        #expect(book.exchange.changes.removed.map { $0 === old } == [true])
        #expect(book.written?.cacheStatus["detail"] == "no_store")
    }

    @Test("T25: a 304 to a no-store request changes no stored response, and no 304 gives its cookie to others")
    func usedOnce() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Cache-Control: no-store"), [.lookUp(onDisk: false)],
            .found([try stored()]), [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .sendStored],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus["detail"] == "request_no_store")
        let cookie = try Playbook()
        try cookie.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored()]), [.joinFetch],
            .leads, [.fetch],
            .response(304, "ETag: \"v1\"", "Set-Cookie: secret=1"),
            [.discardUpstreamBody, .freshen, .releaseJoined, .sendStored],
            .delivered, [.finish])
        #expect(cookie.exchange.cache.selected?.head.fields.contains(.setCookie) == false)
    }

    @Test(
        "no-cache in the request validates a fresh response",
        arguments: ["Cache-Control: no-cache", "Pragma: no-cache", "Cache-Control: max-age=0"])
    func requestNoCache(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 1)]), [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .freshen, .sendStored],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus["fwd"] == "request")
    }

    @Test("A validation requests the complete response, so that it can replace the stored response")
    func asksForTheWhole() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Range: bytes=0-3", "If-Range: \"v1\""), [.lookUp(onDisk: false)],
            .found([try stored()]), [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .freshen, .sendStored],
            .delivered, [.finish])
        #expect(book.forwarded("range") == nil)
        #expect(book.forwarded("if-range") == nil)
        #expect(book.written?.status == 206)
    }

    @Test(
        "After a failure a stored response is served if stale-if-error allows and the origin does not forbid it (RFC 5861 §4)",
        arguments: [
            ("max-age=60, stale-if-error=10", true), ("max-age=60, stale-if-error=9", false), ("max-age=60", false),
            ("max-age=60, stale-if-error=10, must-revalidate", false),
            ("max-age=60, stale-if-error=10, proxy-revalidate", false), ("max-age=60, stale-if-error=10, s-maxage=60", false),
            ("max-age=60, stale-if-error=10, no-cache", false),
        ])
    func failure(control: String, servesStale: Bool) throws {
        for fault in [
            Fault.connectionRefused, .nameNotFound, .connectionTerminated, .responseTimeout(phase: "first_byte"),
            .malformedResponse(detail: "line"),
        ] {
            let book = try Playbook()
            try book.run(
                .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
                .found([try Messages.stored("Cache-Control: \(control)", "ETag: \"v1\"", age: 70)]), [.joinFetch],
                .leads, [.fetch],
                .fails(fault), servesStale ? [.releaseJoined, .sendStored] : [.releaseJoined, .sendError],
                .delivered, [.finish])
            let head = try #require(book.written)
            // The gateway could not validate its stored response in time (RFC 9111 §5.2.2.2).
            #expect(head.status == (servesStale ? 200 : 504))
            #expect(book.exchange.trace.fault == fault)
            if servesStale { #expect(head.cacheStatus == ["hit": "", "ttl": "-10", "detail": "stale_if_error"]) }
        }
    }

    @Test(
        "An error response is relayed unless stale-if-error allows the stored response instead (RFC 9111 §4.3.3)",
        arguments: [500, 502, 503, 504, 501, 505, 404],
        ["stale-if-error=10", "stale-if-error=9", "must-revalidate, stale-if-error=10", "x"])
    func errorStatus(status: Int, control: String) throws {
        let standsIn = control == "stale-if-error=10" && [500, 502, 503, 504].contains(status)
        let book = try Playbook()
        let stored = try Messages.stored("Cache-Control: max-age=60, \(control)", "ETag: \"v1\"", age: 70)
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([stored]), [.joinFetch],
            .leads, [.fetch],
            .response(status, "Content-Length: 3"),
            standsIn
                ? [.discardUpstreamBody, .releaseJoined, .sendStored]
                // A 404 means that the stored response is outdated.
                : status == 404 ? [.remove, .releaseJoined, .relay(store: false)] : [.releaseJoined, .relay(store: false)],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == (standsIn ? 200 : status))
        guard standsIn else { return }
        #expect(head["age"] == "70")
        #expect(
            head.cacheStatus == ["fwd": "stale", "fwd-status": "\(status)", "ttl": "-10", "detail": "stale_if_error"])
        #expect(book.exchange.trace.outcome == .staleHit)
    }

    @Test("The client's own stale-if-error applies only to its request")
    func clientsStaleIfError() throws {
        for (field, servesStale) in [("Cache-Control: stale-if-error=10", true), ("Cache-Control: stale-if-error=9", false)] {
            let book = try Playbook()
            try book.run(
                .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
                .found([try stored()]), [.joinFetch],
                .leads, [.fetch],
                .fails(.connectionRefused), servesStale ? [.releaseJoined, .sendStored] : [.releaseJoined, .sendError],
                .delivered, [.finish])
            #expect(book.written?.status == (servesStale ? 200 : 504))
        }
    }

    @Test("A full response that must not be stored removes the stored one, unless only the request is the reason")
    func replacedAndNotStored() throws {
        for (field, control, removes) in [
            ("X-No: 1", "no-store", true), ("X-No: 1", "private", true), ("Cache-Control: no-store", "max-age=9", false),
        ] {
            let book = try Playbook()
            let old = try stored()
            let joins = field == "X-No: 1"
            try book.run(.request("GET http://a.example/x", field), [.lookUp(onDisk: false)])
            try joins
                ? book.run(.found([old]), [.joinFetch], .leads, [.fetch]) : book.run(.found([old]), [.fetch])
            try book.run(
                .response(200, "Cache-Control: \(control)", "Content-Length: 3"),
                removes ? [.remove, .releaseJoined, .relay(store: false)] : [.relay(store: false)],
                .delivered, [.finish])
            #expect(book.exchange.changes.removed.map { $0 === old } == (removes ? [true] : []))
        }
    }

    @Test(
        "A 200 to HEAD freshens the stored GET, or shows that it is outdated (RFC 9111 §4.3.5)",
        arguments: [
            (["ETag: \"v1\""], true), (["ETag: \"v2\""], false), (["ETag: W/\"v1\""], false),
            (["Last-Modified: Tue, 14 Nov 2023 19:00:00 GMT"], true), (["Last-Modified: Tue, 14 Nov 2023 19:00:01 GMT"], false),
            (["Content-Length: 10"], true), (["Content-Length: 11"], false), (["Content-Length: 010"], false), ([], true),
            (["ETag: \"v1\"", "Content-Length: 11"], false), (["ETag: \"v1\"", "Cache-Control: no-store"], false),
        ])
    func headEffect(fields: [String], freshens: Bool) throws {
        let book = try Playbook()
        let old = try stored()
        try book.run(
            .request("HEAD http://a.example/x"), [.lookUp(onDisk: false)],
            .found([old]), [.fetch],
            .response(200, ["X-New: 2"] + fields),
            freshens ? [.freshen, .relay(store: false)] : [.remove, .relay(store: false)],
            .delivered, [.finish])
        #expect(book.exchange.changes.freshened.map { $0.old === old } == (freshens ? [true] : []))
        #expect(book.exchange.changes.removed.map { $0 === old } == (freshens ? [] : [true]))
        guard freshens else { return }
        let freshened = book.exchange.changes.freshened.first?.new
        let fresh = try #require(freshened)
        #expect(fresh.facts.responseTime == book.now)
        #expect(fresh.head.fields.index(ofName: Array("x-new".utf8).span) != nil)
        #expect(fresh.body.length == 10)
    }

    @Test("A 200 to HEAD applies to each stored response that the request matches")
    func headEffects() throws {
        let book = try Playbook()
        let all = try several(["\"v1\"", "\"v2\"", "\"v1\""])
        try book.run(
            .request("HEAD http://a.example/x", "Accept: a", "Accept-Language: b"), [.lookUp(onDisk: false)],
            .found(all), [.fetch],
            .response(200, "ETag: \"v1\""), [.freshen, .remove, .relay(store: false)],
            .delivered, [.finish])
        #expect(book.exchange.changes.freshened.map { $0.old === all[0] } == [true])
        #expect(book.exchange.changes.removed.map { $0 === all[1] } == [true])
    }

    @Test("Other responses to HEAD, and those to a request with Authorization, change nothing", arguments: [404, 500])
    func headWithoutEffect(status: Int) throws {
        let book = try Playbook()
        try book.run(
            .request("HEAD http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored()]), [.fetch], .response(status), [.relay(store: false)], .delivered, [.finish])
        let own = try Playbook()
        try own.run(
            .request("HEAD http://a.example/x", "Authorization: Basic x"), [.lookUp(onDisk: false)],
            .found([try stored()]), [.fetch], .response(200, "ETag: \"v1\""), [.relay(store: false)], .delivered, [.finish])
    }

    @Test("HEAD gets a stale GET after an error too")
    func headAfterError() throws {
        let book = try Playbook()
        try book.run(
            .request("HEAD http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored("X-Old: 1", control: "max-age=60, stale-if-error=60")]), [.fetch],
            .response(503), [.discardUpstreamBody, .sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
    }

    @Test(
        "If the client demands a validation that fails, it gets an error",
        arguments: ["Cache-Control: no-cache", "Pragma: no-cache", "Cache-Control: max-age=0"])
    func failureOfDemandedValidation(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 55)]), [.fetch],
            .fails(.connectionRefused), [.sendError],
            .delivered, [.finish])
        #expect(book.written?.status == 504)
    }

    @Test(
        "A stored response replaces an unreachable origin, never a forbidden one",
        arguments: [
            (Fault.connectionRefused, true), (.nameNotFound, true), (.responseTimeout(phase: "idle"), true),
            (.upstreamQueueFull, true), (.offlineMiss(detail: "egress_closed"), true), (.destinationProhibited, false),
            (.badTarget(detail: "host"), false), (.requestTimeout, false),
        ])
    func refusalIsNoFailure(fault: Fault, servesStale: Bool) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored("X-Old: 1", control: "max-age=60, stale-if-error=60")]), [.joinFetch],
            .leads, [.fetch],
            .fails(fault), servesStale ? [.releaseJoined, .sendStored] : [.releaseJoined, .sendError],
            .delivered, [.finish])
        #expect((book.written?.status == 200) == servesStale)
    }

    @Test("If-Match is only for the origin: no stored response replaces a failed origin")
    func originConditionIsNotAnsweredStale() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "If-Match: \"v9\""), [.lookUp(onDisk: false)],
            .found([try stored()]), [.fetch],
            .fails(.connectionRefused), [.sendError],
            .delivered, [.finish])
    }

    @Test("A failure without a stored response is reported as it is")
    func plainFailure() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .fails(.responseTimeout(phase: "first_byte")), [.releaseJoined, .sendError],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == 504)
        #expect(head["proxy-status"] == "larder; error=http_response_timeout; details=\"timeout: first_byte\"")
        #expect(head["connection"] == nil)
    }

    @Test(
        "Unsafe methods invalidate stored responses (RFC 9111 §4.4)",
        arguments: [
            ("POST", 200, true), ("PUT", 204, true), ("DELETE", 303, true), ("FOO", 200, true), ("POST", 500, false),
            ("POST", 404, false),
        ])
    func invalidates(method: String, status: Int, invalidates: Bool) throws {
        let book = try Playbook()
        let relay: Playbook.Step = invalidates ? [.invalidate, .relay(store: false)] : [.relay(store: false)]
        try book.run(
            .request("\(method) http://a.example/x", "Content-Length: 0"), [.fetch],
            .response(status, "Location: /y", "Content-Location: http://b.example/z"), relay,
            .delivered, [.finish])
        let keys = book.exchange.changes.invalidatedKeys.map { String(decoding: $0, as: UTF8.self) }
        #expect(keys == (invalidates ? ["http://a.example:80/x", "http://a.example:80/y"] : []))
    }
}
