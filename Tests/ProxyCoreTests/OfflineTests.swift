import HTTPCaching
import HTTPMessage
import ProxyPolicy
import Testing

@testable import ProxyCore

@Suite("Offline mode (mode: offline)")
struct OfflineTests {
    private func book(rules: [[String: Setting]] = [], trustMark: UInt64 = 0) throws -> Playbook {
        Playbook(
            context: ExchangeContext(
                rules: try Setting.rules(rules), mode: .offline,
                purgeClients: [try #require(AddressRange("127.0.0.0/8"))],
                activeTrust: { _, _, _ in ActiveTrust(mark: trustMark, until: .init(milliseconds: .max)) }))
    }

    @Test("A stored response of any age is delivered, without a background validation")
    func servesStale() throws {
        for control in ["max-age=60", "max-age=60, stale-while-revalidate=86400", "max-age=60, stale-if-error=1"] {
            let book = try book()
            let old = try Messages.stored("Cache-Control: \(control)", "ETag: \"v1\"", age: 3600)
            try book.run(
                .request("GET http://a.example/x", "Cache-Control: no-cache"), [.lookUp(onDisk: false)], .found([old]),
                [.sendStored], .delivered, [.finish])
            #expect(book.written?.cacheStatus == ["hit": "", "ttl": "-3540", "detail": "offline"])
            #expect(book.exchange.trace.outcome == .staleHit && book.exchange.trace.fault == nil)
            #expect("\(book.exchange.trace.reuse?.word ?? "")" == "offline")
        }
    }

    @Test("The client's own condition is evaluated against the stored response")
    func answersConditions() throws {
        let book = try book()
        let old = try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 3600)
        try book.run(
            .request("GET http://a.example/x", "If-None-Match: \"v1\""), [.lookUp(onDisk: false)], .found([old]), [.sendStored],
            .delivered, [.finish])
        #expect(book.exchange.trace.status == 304)
    }

    @Test("A request without a stored response is a miss at once, with its reason in the error, Proxy-Status and Cache-Status")
    func misses() throws {
        let book = try book()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)], .found([], isComplete: false), [.lookUp(onDisk: true)],
            .found([]), [.sendError], .delivered, [.finish])
        #expect(book.exchange.trace.fault == .offlineMiss(detail: "uri_miss") && book.exchange.trace.status == 504)
        #expect(book.written?.cacheStatus == ["detail": "offline_miss"])
        let text = String(decoding: try #require(book.written?.body), as: UTF8.self)
        #expect(text.contains(#""code":"offline_miss","detail":"uri_miss""#) && text.contains(#""retryable":false"#))
    }

    @Test(
        "must-revalidate and similar directives give 504 instead of a stale response (RFC 9111 §5.2.2.2)",
        arguments: [
            ("max-age=60, must-revalidate", "must_revalidate"), ("max-age=60, proxy-revalidate", "proxy_revalidate"),
            ("s-maxage=60", "s_maxage"), ("max-age=60, no-cache", "no_cache"),
        ])
    func obeysOrigin(control: String, word: String) throws {
        let book = try book()
        let old = try Messages.stored("Cache-Control: \(control)", "ETag: \"v1\"", age: 3600)
        try book.run(
            .request("GET http://a.example/x", "Cache-Control: max-stale"), [.lookUp(onDisk: false)], .found([old]), [.sendError],
            .delivered, [.finish])
        let fault = try #require(book.exchange.trace.fault)
        #expect(GatewayError(fault).status.code == 504 && GatewayError(fault).code == "offline_miss")
        #expect("\(GatewayError(fault).detail?.text ?? "")" == word)
    }

    @Test("A response stored for other field values is not used (Vary)")
    func varies() throws {
        let book = try book()
        let german = try Messages.stored(
            "Cache-Control: max-age=60", "Vary: Accept-Language", with: ["Accept-Language: de"])
        try book.run(
            .request("GET http://a.example/x", "Accept-Language: en"), [.lookUp(onDisk: false)], .found([german]), [.sendError],
            .delivered, [.finish])
        #expect(book.exchange.trace.fault == .offlineMiss(detail: "vary_miss"))
    }

    @Test(
        "An unsafe request is refused, and invalidates nothing",
        arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func writes(method: String) throws {
        let book = try book()
        try book.run(.request("\(method) http://a.example/x"), [.sendError], .delivered, [.finish])
        #expect(book.exchange.trace.fault == .offlineMiss(detail: "method") && book.exchange.changes.invalidatedKeys.isEmpty)
    }

    @Test("No tunnel is opened, and a port that is not allowed is reported as such")
    func tunnels() throws {
        let closed = try book()
        try closed.run(
            .request("CONNECT a.example:443"), [.openTunnel], .fails(.offlineMiss(detail: "egress_closed")), [.sendError],
            .delivered, [.finish])
        #expect(closed.exchange.trace.fault == .offlineMiss(detail: "tunnel"))
        let notAllowed = try book()
        try notAllowed.run(.request("CONNECT a.example:25"), [.sendError], .delivered, [.finish])
        #expect(notAllowed.exchange.trace.fault == .portNotAllowed)
    }

    @Test("Deny rules still apply, and requests to Larder itself are answered")
    func answersItself() throws {
        let denied = try book(rules: [["deny": ["reason": "closed"]]])
        try denied.run(.request("GET http://a.example/x"), [.sendError], .delivered, [.finish])
        #expect(denied.exchange.trace.fault == .deniedByRule)
        let options = try book()
        try options.run(.request("OPTIONS *"), [.sendLocal], .delivered, [.finish])
        let purge = try book()
        purge.exchange.incoming.sender = RequestSender(ClientFacts(address: .loopbackIPv4))
        try purge.run(
            .request("PURGE http://a.example/x"), [.purge], .event { .purged(count: 1, at: $0) }, [.sendLocal], .delivered,
            [.finish])
    }

    @Test("A stored part answers requests for its bytes, and the rest is neither requested nor filled")
    func usesParts() throws {
        let whole = try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 3600)
        for (range, isHeld) in [("bytes=2-4", true), ("bytes=2-8", false)] {
            let book = try book(rules: [["cache": ["fill": "true"]]])
            book.exchange.found.partials = [PartialResponse(whole, extents: [0..<6])]
            try book.run(
                .request("GET http://a.example/x", "Range: \(range)", "Cache-Control: no-store"), [.lookUp(onDisk: false)],
                .found([]), [isHeld ? .sendStored : .sendError], .delivered, [.finish])
            #expect(book.exchange.trace.status == (isHeld ? 206 : 504))
            #expect(book.exchange.trace.fault == (isHeld ? nil : .offlineMiss(detail: "partial")))
        }
    }

    @Test("A response from another trust policy is verified by its recorded chain; without a chain it is a miss")
    func judgesChains() throws {
        let old = try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 3600)
        let refusal = TrustRefusal(reason: "pin_mismatch", host: "a.example", source: "", advice: "Do this.")
        for judgement in [ChainJudgement.accepted, .refused(refusal), .unjudged] {
            let book = try book(trustMark: 4)
            let isAccepted = if case .accepted = judgement { true } else { false }
            try book.run(
                .request("GET https://a.example/x"), [.lookUp(onDisk: false)],
                .found([old.withTrust(policyMark: 12, chain: RecordedChain([1]))]), [.judgeRecordedChain],
                .event { .recordedChainJudged(judgement, at: $0) }, [isAccepted ? .sendStored : .sendError], .delivered, [.finish]
            )
            let trace = book.exchange.trace
            switch judgement {
            case .accepted:
                #expect(trace.fault == nil && book.written?.cacheStatus["detail"] == "recorded_chain")
            case .refused: #expect(trace.fault == .recordedChainRefused(reason: "pin_mismatch"))
            case .unjudged: #expect(trace.fault == .offlineMiss(detail: "trust_changed"))
            }
        }
        let book = try book(trustMark: 4)
        try book.run(
            .request("GET https://a.example/x"), [.lookUp(onDisk: false)], .found([old.withTrust(policyMark: 12, chain: nil)]),
            [.sendError], .delivered, [.finish])
        #expect(book.exchange.trace.fault == .offlineMiss(detail: "trust_changed"))
    }

    @Test("If forwarding stops during a request, a stale response is served, or it is a miss")
    func gateCloses() throws {
        for (isStored, expected) in [(true, ExchangeCommand.sendStored), (false, .sendError)] {
            let book = try Playbook()
            let old = try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 3600)
            try book.run(
                .request("GET http://a.example/x"), [.lookUp(onDisk: false)], .found(isStored ? [old] : []), [.joinFetch],
                .leads, [.fetch], .fails(.offlineMiss(detail: "egress_closed")), [.releaseJoined, expected], .delivered,
                [.finish])
            #expect(book.exchange.trace.fault == .offlineMiss(detail: "egress_closed"))
        }
    }
}
