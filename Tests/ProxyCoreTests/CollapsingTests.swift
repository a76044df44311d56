import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Several requests share one fetch (T24)")
struct CollapsingTests {
    private func join(_ book: Playbook, _ fields: String...) throws {
        try book.run(
            .request("GET http://a.example/x", fields), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch])
    }

    @Test("A response from another request's fetch is delivered like a hit, and marked as collapsed")
    func shares() throws {
        let book = try Playbook()
        try join(book)
        try book.run(
            .shared(try Messages.stored("Cache-Control: max-age=60")), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss", "collapsed": ""])
        #expect(book.exchange.trace.outcome == .collapsed)
    }

    @Test("A body in flight is framed by its known length")
    func sharesWhatIsOnItsWay() throws {
        for (length, framing) in [(BodyLength.known(70_000), "length"), (.unknown, "chunked"), (.known(0), "length")] {
            let book = try Playbook()
            try join(book)
            book.exchange.cache.selectedLength = length
            // The body has not arrived yet: no field may depend on it.
            try book.run(
                .shared(try Messages.stored("Cache-Control: max-age=60", body: "")), [.sendStored],
                .delivered, [.finish])
            #expect(book.exchange.delivery.length == length)
            #expect((book.written?["transfer-encoding"] == "chunked") == (framing == "chunked"))
        }
    }

    @Test(
        "T24: a response fetched for another request is only used if it could be used from the store",
        arguments: [
            // The nominated field differs.
            ("Cookie: a=1", "Cookie: a=2", "Vary: Cookie", "Cache-Control: max-age=60"),
            // It is not fresh.
            ("Accept: a", "Accept: a", "Vary: Accept", "Cache-Control: max-age=0"),
            ("Accept: a", "Accept: b", "Vary: Accept", "Cache-Control: max-age=60"),
            ("Cookie: a=1", "X-No: cookie", "Vary: cookie", "Cache-Control: max-age=60"),
        ])
    func doesNotShare(theirs: String, ours: String, vary: String, control: String) throws {
        let book = try Playbook()
        try join(book, ours)
        let shared = try Messages.stored(control, vary, "ETag: \"v1\"", with: [theirs])
        try book.run(
            .shared(shared), [.fetch],
            .response(200, "Content-Length: 1"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss", "collapsed": "?0", "detail": "no_lifetime"])
    }

    @Test("A shared response that could not be used leaves no trace: the stored response keeps its own length")
    func forgetsWhatItCouldNotUse() throws {
        let book = try Playbook()
        let stale = try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 70)
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([stale]), [.joinFetch])
        book.exchange.cache.selectedLength = .known(70_000)
        try book.run(
            .shared(try Messages.stored("Cache-Control: max-age=0", "ETag: \"v2\"", body: "")), [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .freshen, .sendStored],
            .delivered, [.finish])
        #expect(book.written?["content-length"] == "10")
    }

    @Test("Each request fetches for itself if the shared response cannot be shared, and reports that it waited")
    func notShared() throws {
        let book = try Playbook()
        try join(book)
        try book.run(
            .notShared, [.fetch],
            .response(200, "Content-Length: 1", "Cache-Control: private"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss", "collapsed": "?0", "detail": "private"])
    }

    @Test("A request that need not wait fetches for itself, and does not report waiting")
    func alone() throws {
        let book = try Playbook()
        try join(book)
        try book.run(
            .alone, [.fetch],
            .response(200, "Content-Length: 1", "Cache-Control: private"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss", "detail": "private"])
    }

    @Test("If the leading request's client leaves, another request leads")
    func abandoned() throws {
        let book = try Playbook()
        try join(book)
        try book.run(
            .abandoned, [.joinFetch],
            .abandoned, [.joinFetch],
            .leads, [.fetch],
            .response(200, "Content-Length: 1", "Cache-Control: max-age=60"), [.relay(store: true)],
            .delivered, [.finish])
    }

    @Test("A request that waits for a validation uses the result")
    func joinsValidation() throws {
        let book = try Playbook()
        let stale = try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 70)
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([stale]), [.joinFetch],
            .shared(try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"")), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?["age"] == "0")
        let other = try Playbook()
        try other.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([stale]), [.joinFetch],
            .notShared, [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .freshen, .sendStored],
            .delivered, [.finish])
        #expect(other.forwarded("if-none-match") == "\"v1\"")
    }

    @Test(
        "A request that cannot use another request's response does not wait for it",
        arguments: ["Cache-Control: no-cache", "Pragma: no-cache", "Cache-Control: max-age=0"])
    func doesNotWaitInVain(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([]), [.fetch])
    }

    @Test("A leader that generates an error releases the waiting requests")
    func leaderFails() throws {
        let book = try Playbook(rules: [["validate": ["status": "200", "on_failure": "block"]]])
        try join(book)
        try book.run(
            .leads, [.fetch],
            .response(500, "Content-Length: 3"), [.discardUpstreamBody, .releaseJoined, .sendError],
            .delivered, [.finish])
    }
}
