import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("A stale response served while it is validated (RFC 5861 §3)")
struct BackgroundValidationTests {
    private static let control = "Cache-Control: max-age=60, stale-while-revalidate=30"

    private func stored(_ fields: String...) throws -> StoredResponse {
        try Messages.stored(Self.control, fields.first ?? "ETag: \"v1\"", age: 70)
    }

    /// A playbook for the background validation of `stored`, after the client has received it stale.
    private func served(
        _ stored: StoredResponse, _ request: String = "GET http://a.example/x", _ fields: [String] = [],
        rules: [[String: Setting]] = []
    ) throws -> Playbook {
        let book = try Playbook(rules: rules)
        try book.run(
            .request(request, fields), [.lookUp(onDisk: false)],
            .found([stored]), [.sendStored, .validateInBackground])
        return book.validating()
    }

    @Test("The client gets its response at once")
    func servesAtOnce() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try stored()]), [.sendStored, .validateInBackground],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
        #expect(book.written?["age"] == "70")
        #expect(book.written?.cacheStatus == ["hit": "", "ttl": "-10", "detail": "stale_while_revalidate"])
        #expect(book.exchange.trace.outcome == .staleHit)
    }

    @Test("A 304 freshens the stored response")
    func freshens() throws {
        let old = try stored()
        let book = try served(old)
        try book.run(
            .validates, [.fetch],
            .response(304, "ETag: \"v1\"", "Cache-Control: max-age=100"),
            [.discardUpstreamBody, .freshen, .releaseJoined, .finish])
        #expect(book.forwarded("if-none-match") == "\"v1\"")
        #expect(book.exchange.changes.freshened.map { $0.old === old } == [true])
        #expect(book.exchange.changes.freshened.first?.new.facts.freshnessLifetime.seconds == 100)
        #expect(book.exchange.trace.outcome == .background && book.exchange.trace.status == 0)
    }

    @Test("A 304 for another representation leads to a second request without conditions")
    func notIdentified() throws {
        let book = try served(try stored())
        try book.run(
            .validates, [.fetch],
            .response(304, "ETag: \"v9\""), [.discardUpstreamBody, .fetch],
            .response(200, Self.control, "Content-Length: 3"), [.relay(store: true)],
            .delivered, [.finish])
        #expect(book.forwarded("if-none-match") == nil)
    }

    @Test("A new response replaces the stored one", arguments: ["ETag: \"v1\"", "X-No: validator"])
    func replaces(field: String) throws {
        let book = try served(try stored(field))
        try book.run(
            .validates, [.fetch],
            .response(200, Self.control, "ETag: \"v2\"", "Content-Length: 3"), [.relay(store: true)],
            .delivered, [.finish])
        #expect(book.stored("new") != nil)
        #expect(book.exchange.trace.outcome == .background)
    }

    @Test("A new response that must not be stored removes the stored one", arguments: [200, 204, 404, 410])
    func removes(status: Int) throws {
        let old = try stored()
        let book = try served(old)
        try book.run(
            .validates, [.fetch],
            .response(status, "Cache-Control: no-store"), [.remove, .releaseJoined, .discardUpstreamBody, .finish])
        #expect(book.exchange.changes.removed.map { $0 === old } == [true])
    }

    @Test("An error leaves the stored response unchanged, and is logged", arguments: [429, 500, 501, 502, 503, 504, 599])
    func leavesOnError(status: Int) throws {
        let book = try served(try stored())
        try book.run(
            .validates, [.fetch],
            .response(status, "Cache-Control: max-age=60"), [.discardUpstreamBody, .releaseJoined, .finish])
        #expect(book.exchange.trace.outcome == .failed && book.exchange.trace.upstreamStatus == UInt16(status))
    }

    @Test(
        "An error's Retry-After delays the next validation",
        arguments: [
            ("Retry-After: 120", 120_000), ("Retry-After: 0", 0), ("Retry-After: 99999999999999999999", 999_999_999_000),
            ("Retry-After: soon", nil), ("X-No: wait", nil),
        ] as [(String, Int64?)])
    func notesRetryAfter(field: String, milliseconds: Int64?) throws {
        for status in [429, 503] {
            let book = try served(try stored())
            try book.run(.validates, [.fetch], .response(status, field), [.discardUpstreamBody, .releaseJoined, .finish])
            #expect(book.exchange.upstream.retryAfter == milliseconds)
        }
    }

    @Test("A response for one client alone leaves the stored response unchanged", arguments: [401, 403, 407])
    func leavesOnRefusal(status: Int) throws {
        let book = try served(try stored())
        try book.run(
            .validates, [.fetch], .response(status, "X-No: lifetime"), [.releaseJoined, .discardUpstreamBody, .finish])
    }

    @Test("A connection failure leaves the stored response unchanged, and is logged")
    func leavesOnFailure() throws {
        let book = try served(try Messages.stored(Self.control + ", stale-if-error=90", "ETag: \"v1\"", age: 70))
        try book.run(.validates, [.fetch], .fails(.connectionRefused), [.releaseJoined, .finish])
        #expect(book.exchange.trace.outcome == .failed && book.exchange.trace.fault == .connectionRefused)
    }

    @Test("A truncated body is logged as a failure")
    func leavesOnBrokenBody() throws {
        let book = try served(try stored())
        try book.run(
            .validates, [.fetch], .response(200, Self.control, "Content-Length: 3"), [.relay(store: true)], .cut, [.finish])
        #expect(book.exchange.trace.outcome == .failed)
    }

    @Test("A server that stops cancels the validation")
    func isLetGo() throws {
        let book = try served(try stored())
        try book.run(.validates, [.fetch], .clientGone, [.cancelUpstream, .finish])
    }

    @Test("The validation repeats the client's request for the complete response, without its conditions and cache directives")
    func asksAsClient() throws {
        let book = try served(
            try stored(), "HEAD http://a.example/x",
            [
                "Accept-Language: de", "Cookie: a=b", "If-None-Match: \"v0\"", "If-Modified-Since: Tue, 14 Nov 2023 19:00:00 GMT",
                "Range: bytes=0-3", "If-Range: \"v1\"", "Cache-Control: max-stale=20", "Pragma: x",
            ])
        try book.run(
            .validates, [.fetch], .response(200, Self.control, "Content-Length: 3"), [.relay(store: true)], .delivered, [.finish])
        #expect(book.exchange.request.method == .get)
        #expect(book.forwarded("accept-language") == "de" && book.forwarded("cookie") == "a=b")
        #expect(book.forwarded("if-none-match") == "\"v1\"")
        for name in ["if-modified-since", "range", "if-range", "cache-control", "pragma"] { #expect(book.forwarded(name) == nil) }
    }

    @Test(
        "No validation is sent for a request whose response could not be stored",
        arguments: ["GET", "HEAD"],
        ["Cache-Control: no-store", "X-Forwarded-Host: evil.example", "Cache-Control: only-if-cached"])
    func asksNothingInVain(method: String, field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("\(method) http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([try stored()]), [.sendStored],
            .delivered, [.finish])
    }

    @Test("A rule's checks apply to background responses too", arguments: [true, false])
    func checksBody(isWellFormed: Bool) throws {
        let book = try served(try stored(), rules: [["validate": ["wellformed": "json", "on_failure": "block"]]])
        try book.run(
            .validates, [.fetch],
            .response(200, Self.control, "Content-Length: 2", "Content-Type: application/json"), [.checkBody],
            .checked(isWellFormed ? .passed : .malformedCoding, length: 2),
            isWellFormed ? [.sendChecked(store: true)] : [.discardUpstreamBody, .releaseJoined, .finish])
        if isWellFormed { try book.run(.delivered, [.finish]) }
    }
}
