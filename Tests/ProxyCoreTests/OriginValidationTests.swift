import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Validating with the origin (RFC 9111 §4.3)")
struct OriginValidationTests {
    let stale: [String] = ["Cache-Control: max-age=60", "ETag: \"v1\"", "Last-Modified: Tue, 14 Nov 2023 19:00:00 GMT"]

    private func stored(_ fields: String...) throws -> StoredResponse {
        try Messages.stored(stale[0], stale[1], stale[2], fields.first ?? "X-Old: 1", age: 70)
    }

    @Test("A stale response is validated with its own validators; a 304 freshens it")
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
        #expect(book.exchange.freshenedFrom === old)
        #expect(book.exchange.selected !== old)
    }

    @Test("The client's own condition is evaluated after the 304, not passed on in its place")
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

    @Test("A 200 takes the place of what was validated")
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

    @Test("A 304 that speaks of another representation: the request goes out again without our conditions")
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

    @Test("A 304 that forbids keeping is used once, and the stored response goes")
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
        #expect(book.exchange.removed === old)
        #expect(book.written?.cacheStatus["detail"] == "no_store")
    }

    @Test("T25: a 304 to a request that may not be kept leaves the stored response as it was, and gives no cookie to others")
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
        #expect(cookie.exchange.selected?.head.fields.contains(.setCookie) == false)
    }

    @Test(
        "no-cache in the request validates what is fresh",
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

    @Test("Under validation the whole is asked for, so that it can take the place of what is stored")
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
        "What the origin holds against stale use is not served when it fails",
        arguments: [
            ("max-age=60", true), ("max-age=60, must-revalidate", false), ("max-age=60, proxy-revalidate", false),
            ("max-age=60, s-maxage=60", false), ("max-age=60, no-cache", false),
        ])
    func failure(control: String, servesStale: Bool) throws {
        // Without a validator a no-cache response is never stored: it could not be used again.
        for hasValidator in control.contains("no-cache") ? [true] : [true, false] {
            let book = try Playbook()
            let stored = try Messages.stored(
                "Cache-Control: \(control)", hasValidator ? "ETag: \"v1\"" : "X-No: 1", age: 70)
            try book.run(
                .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
                .found([stored]), [.joinFetch],
                .leads, [.fetch],
                .fails(.connectionRefused), servesStale ? [.releaseJoined, .sendStored] : [.releaseJoined, .sendError],
                .delivered, [.finish])
            let head = try #require(book.written)
            #expect(head.status == (servesStale ? 200 : 502))
            #expect(book.exchange.trace.fault == .connectionRefused)
            if servesStale { #expect(head.cacheStatus == ["hit": "", "ttl": "-10", "detail": "stale_on_failure"]) }
        }
    }

    @Test(
        "What the client did not want unvalidated is an error where it cannot be validated",
        arguments: ["Cache-Control: no-cache", "Pragma: no-cache", "Cache-Control: max-age=0"])
    func failureOfDemandedValidation(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 55)]), [.fetch],
            .fails(.connectionRefused), [.sendError],
            .delivered, [.finish])
        #expect(book.written?.status == 502)
    }

    @Test(
        "A stored response stands in for an origin out of reach, never for one that may not be reached",
        arguments: [
            (Fault.connectionRefused, true), (.nameNotFound, true), (.responseTimeout(phase: "idle"), true),
            (.upstreamQueueFull, true), (.egressClosed, true), (.destinationProhibited, false),
            (.badTarget(detail: "host"), false), (.requestTimeout, false),
        ])
    func refusalIsNoFailure(fault: Fault, servesStale: Bool) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored()]), [.joinFetch],
            .leads, [.fetch],
            .fails(fault), servesStale ? [.releaseJoined, .sendStored] : [.releaseJoined, .sendError],
            .delivered, [.finish])
        #expect((book.written?.status == 200) == servesStale)
    }

    @Test("If-Match is for the origin alone: nothing stored stands in when it fails")
    func originConditionIsNotAnsweredStale() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "If-Match: \"v9\""), [.lookUp(onDisk: false)],
            .found([try stored()]), [.fetch],
            .fails(.connectionRefused), [.sendError],
            .delivered, [.finish])
    }

    @Test("A failure without anything stored is told as it is")
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
        "Unsafe methods make what is stored untrue (RFC 9111 §4.4)",
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
        let keys = book.exchange.invalidatedKeys.map { String(decoding: $0, as: UTF8.self) }
        #expect(keys == (invalidates ? ["http://a.example:80/x", "http://a.example:80/y"] : []))
    }
}
