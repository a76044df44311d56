import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Served stale while it is validated (RFC 5861 §3)")
struct BackgroundValidationTests {
    private static let control = "Cache-Control: max-age=60, stale-while-revalidate=30"

    private func stored(_ fields: String...) throws -> StoredResponse {
        try Messages.stored(Self.control, fields.first ?? "ETag: \"v1\"", age: 70)
    }

    /// A book whose client has been served `stored` stale, and the one that validates it.
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

    @Test("The client has its answer at once")
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

    @Test("A 304 freshens what is stored")
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

    @Test("A 304 that speaks of something else: asked again without a condition")
    func notIdentified() throws {
        let book = try served(try stored())
        try book.run(
            .validates, [.fetch],
            .response(304, "ETag: \"v9\""), [.discardUpstreamBody, .fetch],
            .response(200, Self.control, "Content-Length: 3"), [.relay(store: true)],
            .delivered, [.finish])
        #expect(book.forwarded("if-none-match") == nil)
    }

    @Test("A new response takes its place", arguments: ["ETag: \"v1\"", "X-No: validator"])
    func replaces(field: String) throws {
        let book = try served(try stored(field))
        try book.run(
            .validates, [.fetch],
            .response(200, Self.control, "ETag: \"v2\"", "Content-Length: 3"), [.relay(store: true)],
            .delivered, [.finish])
        #expect(book.stored("new") != nil)
        #expect(book.exchange.trace.outcome == .background)
    }

    @Test("What the origin has instead, and does not let be stored: the stored one goes", arguments: [200, 204, 404, 410])
    func removes(status: Int) throws {
        let old = try stored()
        let book = try served(old)
        try book.run(
            .validates, [.fetch],
            .response(status, "Cache-Control: no-store"), [.remove, .releaseJoined, .discardUpstreamBody, .finish])
        #expect(book.exchange.changes.removed.map { $0 === old } == [true])
    }

    @Test("An error leaves it as it is, and is told", arguments: [429, 500, 501, 502, 503, 504, 599])
    func leavesOnError(status: Int) throws {
        let book = try served(try stored())
        try book.run(
            .validates, [.fetch],
            .response(status, "Cache-Control: max-age=60"), [.discardUpstreamBody, .releaseJoined, .finish])
        #expect(book.exchange.trace.outcome == .failed && book.exchange.trace.upstreamStatus == UInt16(status))
    }

    @Test(
        "An error's Retry-After says how long the next validation waits",
        arguments: [
            ("Retry-After: 120", 120_000), ("Retry-After: 0", 0), ("Retry-After: soon", nil), ("X-No: wait", nil),
        ] as [(String, Int64?)])
    func notesRetryAfter(field: String, milliseconds: Int64?) throws {
        for status in [429, 503] {
            let book = try served(try stored())
            try book.run(.validates, [.fetch], .response(status, field), [.discardUpstreamBody, .releaseJoined, .finish])
            #expect(book.exchange.upstream.retryAfter == milliseconds)
        }
    }

    @Test("So does an answer that is for one client alone", arguments: [401, 403, 407])
    func leavesOnRefusal(status: Int) throws {
        let book = try served(try stored())
        try book.run(
            .validates, [.fetch], .response(status, "X-No: lifetime"), [.releaseJoined, .discardUpstreamBody, .finish])
    }

    @Test("A failure leaves it, and is told")
    func leavesOnFailure() throws {
        let book = try served(try Messages.stored(Self.control + ", stale-if-error=90", "ETag: \"v1\"", age: 70))
        try book.run(.validates, [.fetch], .fails(.connectionRefused), [.releaseJoined, .finish])
        #expect(book.exchange.trace.outcome == .failed && book.exchange.trace.fault == .connectionRefused)
    }

    @Test("A body that breaks off is told as a failure")
    func leavesOnBrokenBody() throws {
        let book = try served(try stored())
        try book.run(
            .validates, [.fetch], .response(200, Self.control, "Content-Length: 3"), [.relay(store: true)], .cut, [.finish])
        #expect(book.exchange.trace.outcome == .failed)
    }

    @Test("The server stops: it is let go")
    func isLetGo() throws {
        let book = try served(try stored())
        try book.run(.validates, [.fetch], .clientGone, [.cancelUpstream, .finish])
    }

    @Test("It asks as the client did, but for the whole, unconditionally, and without its wishes about caches")
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
        "Nothing is asked for a request whose answer could not be stored",
        arguments: ["GET", "HEAD"],
        ["Cache-Control: no-store", "X-Forwarded-Host: evil.example", "Cache-Control: only-if-cached"])
    func asksNothingInVain(method: String, field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("\(method) http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([try stored()]), [.sendStored],
            .delivered, [.finish])
    }

    @Test("A rule's checks hold for what nobody waits for", arguments: [true, false])
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
