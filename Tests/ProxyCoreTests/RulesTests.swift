import HTTPCaching
import HTTPMessage
import ProxyPolicy
import Testing

@testable import ProxyCore

@Suite("Effects of rules on an exchange")
struct RulesTests {
    @Test("A request denied by a rule gets 403 and is not forwarded")
    func denies() throws {
        let book = try Playbook(rules: [["match": ["host": "a.example"], "deny": ["reason": "not here"]]])
        try book.run(
            .request("GET http://a.example/x"), [.sendError],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == 403)
        #expect(book.exchange.trace.outcome == .denied)
        let body = try JSONBody(head.body)
        #expect(body["code"] == "denied_by_rule")
        #expect(body["rule"] == "rule 0")
        #expect(body["reason"] == "not here")
        #expect(head["connection"] == nil)
    }

    @Test("A request that no rule allows is answered 403 with the rule that would allow it")
    func deniesUnlisted() throws {
        let rules = try Setting.rules([["match": ["host": "b.example"], "allow": [:]]])
        for suggests in [true, false] {
            let book = Playbook(context: ExchangeContext(rules: rules.under(EgressTerms(.deny, suggests: suggests))))
            try book.run(.request("GET http://a.example:81/x?q=1"), [.sendError], .delivered, [.finish])
            let head = try #require(book.written)
            #expect(head.status == 403)
            #expect(book.exchange.trace.outcome == .denied)
            let text = String(decoding: head.body, as: UTF8.self)
            #expect(try JSONBody(head.body)["code"] == "egress_denied")
            let rule = #"{"match":{"host":"a.example","port":81,"method":"GET","path":"/x"},"allow":{}}"#
            #expect(text.contains(rule) == suggests)
            #expect(!text.contains("q=1"))
        }
    }

    @Test(
        "No rule is suggested if it would allow more than the request, or not the request itself",
        arguments: [
            "GET http://a.example/**", "GET http://a.example/a//b", "GET http://a.example/a;x", "BREW http://a.example/a",
        ])
    func suggestsNothing(line: String) throws {
        let rules = try Setting.rules([["match": ["host": "b.example"], "allow": [:]]]).under(EgressTerms(.deny))
        let book = Playbook(context: ExchangeContext(rules: rules))
        try book.run(.request(line), [.sendError], .delivered, [.finish])
        let head = try #require(book.written)
        #expect(try JSONBody(head.body)["code"] == "egress_denied")
        #expect(!String(decoding: head.body, as: UTF8.self).contains("suggestion"))
    }

    @Test("A tunnel that no rule allows is refused, and so is one whose rules look at its requests")
    func deniesUnlistedTunnels() throws {
        let rules = try Setting.rules([
            ["match": ["host": "b.example"], "allow": [:]], ["match": ["host": "c.example", "path": "/x"], "allow": [:]],
        ]).under(EgressTerms(.deny))
        func book(_ host: String) throws -> Playbook {
            let book = Playbook(context: ExchangeContext(rules: rules))
            try book.run(
                .request("CONNECT \(host).example:443", "Host: \(host).example:443"), host == "a" ? [.sendError] : [.openTunnel])
            return book
        }
        #expect(try book("a").exchange.trace.fault == .egressDenied)
        #expect(try book("b").exchange.tunnelFault == nil && book("b").exchange.tunnelNeedsName)
        #expect(try book("c").exchange.tunnelFault == .egressDenied)
    }

    @Test("Tunnels are denied by host")
    func deniesTunnel() throws {
        let book = try Playbook(rules: [["match": ["host": "*.example"], "deny": ["reason": "no"]]])
        try book.run(.request("CONNECT a.example:443", "Host: a.example:443"), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 403)
    }

    @Test("A rule's request fields apply before the key is made and directives are read")
    func editsRequest() throws {
        let book = try Playbook(rules: [
            ["request": ["set": ["Cache-Control": "no-store", "X-Rule": "1"], "remove": ["X-Client"]]]
        ])
        try book.run(
            .request("GET http://a.example/x", "X-Client: 1"), [.lookUp(onDisk: false)],
            .found([]), [.fetch],
            .response(200, "Cache-Control: max-age=60", "Content-Length: 1"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.forwarded("x-rule") == "1")
        #expect(book.forwarded("x-client") == nil)
        #expect(book.written?.cacheStatus["detail"] == "request_no_store")
    }

    @Test("A rule's response fields are delivered with a hit, a 304, a range and a miss, and are not stored")
    func editsResponse() throws {
        let rules: [[String: Setting]] = [
            [
                "response": [
                    "set": ["X-Rule": "1"], "remove": ["X-Origin"], "append": ["X-More": "2"], "default": ["ETag": "\"d\""],
                ]
            ]
        ]
        let stored = try Messages.stored("Cache-Control: max-age=60", "X-Origin: 1", "ETag: \"v1\"")
        for (fields, status) in [([], UInt16(200)), (["Range: bytes=0-1"], 206), (["If-None-Match: \"v1\""], 304)]
            as [([String], UInt16)]
        {
            let hit = try Playbook(rules: rules)
            try hit.run(
                .request("GET http://a.example/x", fields), [.lookUp(onDisk: false)],
                .found([stored]), [.sendStored],
                .delivered, [.finish])
            let head = try #require(hit.written)
            #expect(head.status == status)
            #expect(head["x-rule"] == "1")
            #expect(head["x-more"] == "2")
            #expect(head["x-origin"] == nil)
            #expect(head["etag"] == "\"v1\"")
        }
        let miss = try Playbook(rules: rules)
        try miss.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Cache-Control: max-age=60", "X-Origin: 1", "Content-Length: 1"), [.relay(store: true)],
            .delivered, [.finish])
        #expect(miss.written?["x-rule"] == "1")
        #expect(miss.written?["x-origin"] == nil)
        let kept = try #require(miss.stored("1"))
        #expect(kept.head.fields.index(ofName: Array("x-origin".utf8).span) != nil)
        #expect(kept.head.fields.index(ofName: Array("x-rule".utf8).span) == nil)
    }

    @Test(
        "The six cache policies (C1 to C6), with a fresh, a stale and no stored response",
        arguments: [
            ("use_protocol", "hit", "validate", "fetch"), ("reload", "fetch", "fetch", "fetch"),
            ("reload_all", "fetch", "fetch", "fetch"), ("stored_else_load", "hit", "hit", "fetch"),
            ("stored_only", "hit", "hit", "error"), ("revalidate", "validate", "validate", "fetch"),
        ])
    func policies(word: String, fresh: String, stale: String, nothing: String) throws {
        for (age, expected) in [(Int64(1), fresh), (70, stale), (-1, nothing)] {
            let book = try Playbook(rules: [["cache": ["policy": .text(word)]]])
            let stored = try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: max(age, 0))
            var commands = try step(book, Messages.requestText("GET http://a.example/x", []))
            if commands == [.lookUp(onDisk: false)] {
                commands = book.handle(.lookedUp(age < 0 ? [] : [stored], isComplete: true, at: book.now))
            }
            if commands == [.joinFetch] { commands = book.handle(.leadsFetch(at: book.now)) }
            switch expected {
            case "hit": #expect(commands == [.sendStored], "\(word) \(age)")
            case "error": #expect(commands == [.sendError], "\(word) \(age)")
            default:
                #expect(commands == [.fetch], "\(word) \(age)")
                var bytes: [UInt8] = []
                book.exchange.writeForwardedHead(into: &bytes)
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(text.contains("If-None-Match") == (expected == "validate"), "\(word) \(age)")
                #expect(text.contains("Cache-Control: no-cache") == (word == "reload_all"))
                #expect(!text.contains("Pragma"))
            }
        }
    }

    @Test("stored_only never forwards a request, not even a GET with content")
    func storedOnlyWithContent() throws {
        let book = try Playbook(rules: [["cache": ["policy": "stored_only"]]])
        try book.run(.request("GET http://a.example/x", "Content-Length: 3"), [.sendError], .delivered, [.finish])
        #expect(book.written?.status == 504)
    }

    @Test("Reloads and revalidations do not join another request's fetch", arguments: ["reload", "reload_all", "revalidate"])
    func reloadsDoNotJoin(word: String) throws {
        let book = try Playbook(rules: [["cache": ["policy": .text(word)]]])
        var commands = try step(book, Messages.requestText("GET http://a.example/x", []))
        if commands == [.lookUp(onDisk: false)] { commands = book.handle(.lookedUp([], isComplete: true, at: book.now)) }
        #expect(commands == [.fetch])
    }

    @Test("`store: never` stores nothing, and a rule's lifetime applies if the origin gives none")
    func storeAndLifetime() throws {
        let never = try Playbook(rules: [["cache": ["store": "never"]]])
        try never.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.fetch],
            .response(200, "Cache-Control: max-age=60", "Content-Length: 1"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(never.written?.cacheStatus["detail"] == "store_never")
        let lifetime = try Playbook(rules: [["cache": ["ttl": "1m"]]])
        try lifetime.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Content-Length: 1"), [.relay(store: true)],
            .delivered, [.finish])
    }

    @Test("`unsafe` overrides the origin's directives, and is reported")
    func unsafeLifetime() throws {
        let book = try Playbook(rules: [["cache": ["ttl": "1m", "ignore": "private", "unsafe": "true"]]])
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Cache-Control: private", "Content-Length: 1"), [.relay(store: true)],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss", "stored": "", "detail": "\"rule rule 0 overrode private\""])
    }

    @Test("Clients share a count by address; of IPv6 only the /64 counts, and an IPv4-mapped address is the IPv4 address")
    func countsClients() throws {
        let book = try Playbook(rules: [["limit": ["requests": "1", "within": "run", "per": "client"]]])
        try book.run(.request("GET http://a.example/x"), [.countRequest])
        func subject(_ address: String) throws -> String {
            let demands = book.exchange.limitDemands(client: try #require(IPAddress(address)))
            return String(decoding: try #require(demands.first).subject, as: UTF8.self)
        }
        #expect(try subject("2001:db8:1:2::5") == "2001:db8:1:2::/64")
        #expect(try subject("2001:db8:1:2:ffff::1") == "2001:db8:1:2::/64")
        #expect(try subject("2001:db8:1:3::5") == "2001:db8:1:3::/64")
        #expect(try subject("192.0.2.7") == "192.0.2.7" && subject("::ffff:192.0.2.7") == "192.0.2.7")
        #expect(try subject("192.0.2.8") == "192.0.2.8")
    }

    private func step(_ book: Playbook, _ text: String) throws -> [ExchangeCommand] {
        try Messages.read(text, into: &book.exchange.request)
        let hasContent = text.contains("Content-Length")
        return book.handle(.requestHead(body: hasContent ? .known(3) : .none, at: book.now))
    }
}
