import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Fetching and storing responses (RFC 9111 §3)")
struct FetchTests {
    @Test("A miss is fetched, relayed and stored")
    func storesMiss() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x?q=1"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Cache-Control: max-age=60", "Content-Length: 5", "Date: Tue, 14 Nov 2023 22:13:20 GMT"),
            [.relay(store: true)],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head["content-length"] == "5")
        #expect(head.cacheStatus == ["fwd": "uri-miss", "stored": ""])
        #expect(book.exchange.trace.outcome == .miss)
        let stored = try #require(book.stored("hello"))
        #expect(String(decoding: stored.key, as: UTF8.self) == "http://a.example:80/x?q=1")
        #expect(stored.facts.freshnessLifetime.seconds == 60)
    }

    @Test("A stored response's key uses no more memory than its length, even after a longer request")
    func trimsKeys() throws {
        let book = try Playbook()
        for path in [String(repeating: "a", count: 4000), "x"] {
            book.exchange.begin(id: 2, context: book.exchange.context)
            try book.run(
                .request("GET http://a.example/\(path)"), [.lookUp(onDisk: false)],
                .found([]), [.joinFetch],
                .leads, [.fetch],
                .response(200, "Cache-Control: max-age=60", "Content-Length: 5"),
                [.relay(store: true)],
                .delivered, [.finish])
        }
        let stored = try #require(book.stored("hello"))
        #expect(String(decoding: stored.key, as: UTF8.self) == "http://a.example:80/x")
        #expect(stored.key.capacity < 100)
    }

    @Test(
        "A response that must not be stored is relayed with the reason, and joined requests are notified at once",
        arguments: [
            ("Cache-Control: no-store", "no_store"), ("Cache-Control: private", "private"), ("Vary: *", "vary_any"),
            ("X-Nothing: 1", "no_lifetime"), ("Set-Cookie: a=b", "set_cookie"),
        ])
    func passesOnWhatMayNotBeKept(field: String, reason: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(200, field), [.releaseJoined, .relay(store: false)],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.framing == .chunked)
        #expect(head.cacheStatus == ["fwd": "uri-miss", "detail": reason])
        #expect(head["date"] == "Tue, 14 Nov 2023 22:13:20 GMT")
    }

    @Test(
        "A request whose response is for it alone is fetched by itself, and no request joins it",
        arguments: [
            "Authorization: Basic YTpi", "Range: bytes=0-3", "If-None-Match: \"v1\"", "If-Match: \"v1\"",
            "Cache-Control: no-store",
            "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example",
        ])
    func asksForItself(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([]), [.fetch],
            .response(404, "Cache-Control: max-age=60", "Content-Length: 0"),
            [.relay(store: field.hasPrefix("If") || field.hasPrefix("Range"))],
            .delivered, [.finish])
    }

    @Test("T22: a response to a request with Authorization is only stored if the origin says that it may be shared")
    func authorizedResponses() throws {
        for (control, stores) in [
            ("max-age=60", false), ("public, max-age=60", true), ("s-maxage=60", true), ("max-age=60, must-revalidate", true),
        ] {
            let book = try Playbook()
            try book.run(
                .request("GET http://a.example/x", "Authorization: Basic YTpi"), [.lookUp(onDisk: false)],
                .found([]), [.fetch],
                .response(200, "Cache-Control: \(control)", "Content-Length: 1"), [.relay(store: stores)],
                .delivered, [.finish])
            #expect(book.forwarded("authorization") == "Basic YTpi")
            if !stores { #expect(book.written?.cacheStatus["detail"] == "authorization") }
        }
    }

    @Test("T23: a response with Set-Cookie is only stored with an explicit lifetime, and never if the setting says so")
    func setCookie() throws {
        for (setting, control, stores) in [
            (SetCookieStorage.explicit, "max-age=60", true), (.explicit, "public", false), (.never, "max-age=60", false),
        ] {
            let book = Playbook(context: ExchangeContext(rules: .empty, setCookie: setting))
            try book.run(
                .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
                .found([]), [.joinFetch],
                .leads, [.fetch],
                .response(
                    200, "Set-Cookie: a=b", "Cache-Control: \(control)", "Last-Modified: Tue, 14 Nov 2000 19:00:00 GMT",
                    "Content-Length: 1"),
                stores ? [.relay(store: true)] : [.releaseJoined, .relay(store: false)],
                .delivered, [.finish])
            #expect(book.written?["set-cookie"] == "a=b")
        }
    }

    @Test("Methods other than GET and HEAD are forwarded without a look-up", arguments: ["POST", "PUT", "FOO"])
    func forwardsOtherMethods(method: String) throws {
        let book = try Playbook()
        try book.run(
            .request("\(method) http://a.example/x", "Content-Length: 5"), [.fetch],
            .response(500, "Content-Length: 2", "Cache-Control: max-age=9"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "method", "detail": "not_stored_method"])
        #expect(book.exchange.trace.outcome == .bypass)
        #expect(book.forwarded("content-length") == "5")
    }

    @Test(
        "T18: a GET with content is forwarded without a look-up, and its response is not stored",
        arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"])
    func contentOfGet(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.fetch],
            .response(200, "Cache-Control: max-age=60", "Content-Length: 1"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "bypass", "detail": "request_content"])
    }

    @Test("A GET with Content-Length 0 is an ordinary GET")
    func emptyContentOfGet() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Content-Length: 0"), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=60")]), [.sendStored],
            .delivered, [.finish])
    }

    @Test("only-if-cached gets 504 if no stored response can be used, and is never forwarded")
    func onlyIfCached() throws {
        let missing = try Playbook()
        try missing.run(
            .request("GET http://a.example/x", "Cache-Control: only-if-cached"), [.lookUp(onDisk: false)],
            .found([]), [.sendError],
            .delivered, [.finish])
        #expect(missing.written?.status == 504)
        #expect(missing.written?.cacheStatus == ["detail": "cache_miss_only_if_cached"])
        #expect(missing.exchange.trace.fault == .onlyIfCachedMiss(detail: "uri_miss"))
        let stale = try Playbook()
        try stale.run(
            .request("GET http://a.example/x", "Cache-Control: only-if-cached"), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=6", "ETag: \"v1\"", age: 7)]), [.sendError],
            .delivered, [.finish])
        #expect(stale.written?.status == 504)
        let content = try Playbook()
        try content.run(
            .request("GET http://a.example/x", "Cache-Control: only-if-cached", "Content-Length: 5"), [.sendError],
            .delivered, [.finish])
        let fresh = try Playbook()
        try fresh.run(
            .request("GET http://a.example/x", "Cache-Control: only-if-cached"), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=6")]), [.sendStored],
            .delivered, [.finish])
    }

    @Test("HEAD is forwarded as HEAD; its response keeps the origin's length and is not stored")
    func forwardsHead() throws {
        let book = try Playbook()
        try book.run(
            .request("HEAD http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.fetch],
            .response(200, "Content-Length: 12345", "Cache-Control: max-age=60"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?["content-length"] == "12345")
    }

    @Test(
        "A body without a known length is sent in chunks; an empty body has a length",
        arguments: [
            (200, "Content-Length: 0"), (301, "Content-Length: 0"), (204, "X-A: 1"), (304, "ETag: \"v1\""),
            (205, "Content-Length: 0"),
            (206, "Content-Range: bytes 0-3/10"), (200, "Transfer-Encoding: chunked"), (200, "X-A: 1"),
            (404, "Content-Length: 7"),
        ])
    func framesWhatItRelays(status: Int, field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Cache-Control: no-store", "If-None-Match: \"v1\""), [.lookUp(onDisk: false)],
            .found([]), [.fetch],
            .response(status, field), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.status == UInt16(status))
    }

    @Test("An origin that closes within a body makes Larder abort the client's connection")
    func originCut() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Cache-Control: max-age=60", "Content-Length: 5"), [.relay(store: true)],
            .cut, [.abortClient, .finish])
    }

    @Test("A client that leaves at any moment cancels the exchange")
    func clientLeaves() throws {
        let steps: [[Playbook.Step]] = [
            [.request("GET http://a.example/x"), [.lookUp(onDisk: false)]],
            [.request("GET http://a.example/x"), [.lookUp(onDisk: false)], .found([]), [.joinFetch]],
            [.request("POST http://a.example/x"), [.fetch]],
            [.request("POST http://a.example/x"), [.fetch], .response(500, "Content-Length: 1"), [.relay(store: false)]],
            [.request("CONNECT a.example:443"), [.openTunnel]],
            [.request("CONNECT a.example:443"), [.openTunnel], .tunnelOpened, [.splice]],
        ]
        for steps in steps {
            let book = try Playbook()
            for pair in stride(from: 0, to: steps.count, by: 2) { try book.run(steps[pair], steps[pair + 1]) }
            try book.run(
                .clientGone, [.cancelUpstream, .finish],
                .clientGone, [],
                .delivered, [],
                .fails(.connectionRefused), [],
                .found([]), [])
        }
    }

    @Test("The size limit for stored responses applies to gathered bodies too")
    func sizeLimit() throws {
        let rules: [[String: Setting]] = [["cache": ["max_size": "10"], "validate": ["wellformed": "json"]]]
        for (length, stores) in [(UInt64(10), true), (11, false)] {
            let book = try Playbook(rules: rules)
            try book.run(
                .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
                .found([]), [.joinFetch],
                .leads, [.fetch],
                .response(200, "Cache-Control: max-age=60", "Transfer-Encoding: chunked"), [.checkBody],
                .checked(.passed, length: length),
                stores ? [.sendChecked(store: true)] : [.releaseJoined, .sendChecked(store: false)],
                .delivered, [.finish])
        }
        for (length, stores) in [(10, true), (11, false)] {
            let book = try Playbook(rules: [["cache": ["max_size": "10"]]])
            try book.run(
                .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
                .found([]), [.joinFetch],
                .leads, [.fetch],
                .response(200, "Cache-Control: max-age=60", "Content-Length: \(length)"),
                stores ? [.relay(store: true)] : [.releaseJoined, .relay(store: false)],
                .delivered, [.finish])
        }
    }
}
