import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Several requests, one fetch (T24)")
struct CollapsingTests {
    private func join(_ book: Playbook, _ fields: String...) throws {
        try book.run(
            .request("GET http://a.example/x", fields), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch])
    }

    @Test("What another fetched is delivered as a hit on it would be, and said to be collapsed")
    func shares() throws {
        let book = try Playbook()
        try join(book)
        try book.run(
            .shared(try Messages.stored("Cache-Control: max-age=60")), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss", "collapsed": ""])
        #expect(book.exchange.trace.outcome == .collapsed)
    }

    @Test("A body that is still on its way is framed by what is known of its length")
    func sharesWhatIsOnItsWay() throws {
        for (length, framing) in [(BodyLength.known(70_000), "length"), (.unknown, "chunked"), (.known(0), "length")] {
            let book = try Playbook()
            try join(book)
            book.exchange.cache.selectedLength = length
            // Its body is not there yet: nothing of the head may follow from that.
            try book.run(
                .shared(try Messages.stored("Cache-Control: max-age=60", body: "")), [.sendStored],
                .delivered, [.finish])
            #expect(book.exchange.delivery.length == length)
            #expect((book.written?["transfer-encoding"] == "chunked") == (framing == "chunked"))
        }
    }

    @Test(
        "T24: what was fetched for another is used only as it could be from the store",
        arguments: [
            // The nominated field differs.
            ("Cookie: a=1", "Cookie: a=2", "Vary: Cookie", "Cache-Control: max-age=60"),
            // It would not be fresh.
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

    @Test("Nothing of what could not be used is left: the stored response has its own length")
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

    @Test("Each asks for itself where nothing came that could be shared, and says that it had waited")
    func notShared() throws {
        let book = try Playbook()
        try join(book)
        try book.run(
            .notShared, [.fetch],
            .response(200, "Content-Length: 1", "Cache-Control: private"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss", "collapsed": "?0", "detail": "private"])
    }

    @Test("Whoever need not wait asks for itself, and says nothing of having waited")
    func alone() throws {
        let book = try Playbook()
        try join(book)
        try book.run(
            .alone, [.fetch],
            .response(200, "Content-Length: 1", "Cache-Control: private"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss", "detail": "private"])
    }

    @Test("Where the one who asked has left, another takes its place")
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

    @Test("Whoever waits for a validation uses what it brought")
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
        "A request that could use nothing fetched for another does not wait for it",
        arguments: ["Cache-Control: no-cache", "Pragma: no-cache", "Cache-Control: max-age=0"])
    func doesNotWaitInVain(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([]), [.fetch])
    }

    @Test("A leader that answers with an error of its own releases those who wait")
    func leaderFails() throws {
        let book = try Playbook(rules: [["validate": ["status": "200", "on_failure": "block"]]])
        try join(book)
        try book.run(
            .leads, [.fetch],
            .response(500, "Content-Length: 3"), [.discardUpstreamBody, .releaseJoined, .sendError],
            .delivered, [.finish])
    }
}
