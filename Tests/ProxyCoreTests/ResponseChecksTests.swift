import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Response checks required by rules (V1 to V6)")
struct ResponseChecksTests {
    private func book(_ onFailure: Setting, _ checks: [String: Setting]) throws -> Playbook {
        var checks = checks
        checks["on_failure"] = onFailure
        return try Playbook(rules: [["validate": .mapping(checks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })]])
    }

    private func ask(_ book: Playbook, _ stored: StoredResponse?, _ fields: String...) throws {
        let joins = fields.isEmpty
        try book.run(
            .request("GET http://a.example/x", fields), [.lookUp(onDisk: false)],
            .found(stored.map { [$0] } ?? []), joins ? [.joinFetch] : [.fetch])
        if joins { try book.run(.leads, [.fetch]) }
    }

    private func stale(_ control: String = "max-age=60", _ other: String = "ETag: \"v1\"") throws -> StoredResponse {
        try Messages.stored("Cache-Control: \(control)", other, age: 70)
    }

    // MARK: Head

    @Test(
        "An unacceptable status or type is blocked, and named",
        arguments: [
            ("status", "200-299", 500, "Content-Type: text/html", "unacceptable_status"),
            ("content_type", "application/json", 200, "Content-Type: text/html", "unacceptable_content_type"),
            ("content_type", "*/*+json", 200, "X-None: 1", "unacceptable_content_type"),
        ])
    func blocks(check: String, accepted: String, status: Int, field: String, code: String) throws {
        let book = try book("block", [check: .text(accepted)])
        try ask(book, nil)
        try book.run(
            .response(status, field, "Cache-Control: max-age=60", "Content-Length: 3"),
            [.discardUpstreamBody, .releaseJoined, .sendError],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == 502)
        let body = try JSONBody(head.body)
        #expect(body["code"] == code)
        #expect(body.codes == [code])
        #expect(head["proxy-status"]?.contains("received-status=\(status)") == true)
    }

    @Test("Faults are listed from the outermost to the innermost")
    func ordersFaults() throws {
        let book = try book("block", ["status": "200", "content_type": "application/json"])
        try ask(book, nil)
        try book.run(
            .response(500, "Content-Type: text/html", "Content-Length: 3"),
            [.discardUpstreamBody, .releaseJoined, .sendError],
            .delivered, [.finish])
        #expect(try JSONBody(#require(book.written).body).codes == ["unacceptable_status", "unacceptable_content_type"])
    }

    @Test("annotate relays the response with the fault and does not store it; pass does so silently")
    func annotatesOrPasses() throws {
        for (word, note) in [("annotate", "unacceptable_status"), ("pass", nil)] as [(String, String?)] {
            let book = try book(.text(word), ["status": "200"])
            try ask(book, nil)
            try book.run(
                .response(404, "Cache-Control: max-age=60", "Content-Length: 3"), [.releaseJoined, .relay(store: false)],
                .delivered, [.finish])
            #expect(book.written?.status == 404)
            #expect(book.written?["larder-validation"] == note)
            #expect(book.written?.cacheStatus["detail"] == "validation")
        }
    }

    @Test("stale serves a stored response, with or without a validator, unless the origin forbids that; otherwise it blocks")
    func servesStale() throws {
        for (stored, serves) in [
            (try stale(), true), (try stale("max-age=60", "X-No: validator"), true),
            (try stale("max-age=60, must-revalidate"), false),
            (nil, false),
        ] as [(StoredResponse?, Bool)] {
            let book = try book("stale", ["status": "200"])
            try ask(book, stored)
            try book.run(
                .response(503, "Content-Length: 3"),
                serves
                    ? [.discardUpstreamBody, .releaseJoined, .sendStored] : [.discardUpstreamBody, .releaseJoined, .sendError],
                .delivered, [.finish])
            #expect(book.written?.status == (serves ? 200 : 502))
            #expect(book.exchange.trace.fault == .unacceptableStatus)
            if serves { #expect(book.written?.cacheStatus["detail"] == "stale_on_failure") }
        }
    }

    @Test("A 304 to the client's own condition is not checked")
    func notModifiedPasses() throws {
        let book = try book("block", ["status": "200-299", "content_type": "application/json"])
        try ask(book, nil, "If-None-Match: \"v1\"")
        try book.run(.response(304, "ETag: \"v1\""), [.relay(store: false)], .delivered, [.finish])
        #expect(book.written?.status == 304)
    }

    // MARK: Body

    @Test("A body that passes is delivered and stored, with its length")
    func checkedBody() throws {
        let book = try book("block", ["wellformed": "json"])
        try ask(book, nil)
        try book.run(
            .response(200, "Cache-Control: max-age=60", "Transfer-Encoding: chunked"), [.checkBody],
            .checked(.passed, length: 12), [.sendChecked(store: true)],
            .delivered, [.finish])
        #expect(book.written?["content-length"] == "12")
        #expect(book.written?.cacheStatus["stored"] == "")
    }

    @Test("A response without content is not checked", arguments: [(204, "X-A: 1"), (200, "Content-Length: 0")])
    func emptyBody(status: Int, field: String) throws {
        let book = try book("block", ["wellformed": "json"])
        try ask(book, nil)
        try book.run(.response(status, field, "Cache-Control: max-age=9"), [.relay(store: true)], .delivered, [.finish])
    }

    @Test(
        "A body that fails is handled as the rule says",
        arguments: [
            (BodyCheckOutcome.malformedJSON(JSONFault(.unexpectedByte, at: 3)), "malformed_json"),
            (.malformedCoding, "malformed_coding"), (.unsupportedCoding, "unsupported_coding"),
        ])
    func failedBody(outcome: BodyCheckOutcome, code: String) throws {
        for word in ["block", "annotate", "pass", "stale"] {
            let book = try book(.text(word), ["wellformed": "json"])
            try ask(book, try stale())
            let expected: Playbook.Step =
                switch word {
                case "block": [.discardUpstreamBody, .releaseJoined, .sendError]
                case "stale": [.discardUpstreamBody, .releaseJoined, .sendStored]
                default: [.releaseJoined, .sendChecked(store: false)]
                }
            try book.run(
                .response(200, "Cache-Control: max-age=60", "Content-Length: 30"), [.checkBody],
                .checked(outcome, length: 30), expected,
                .delivered, [.finish])
            let head = try #require(book.written)
            switch word {
            case "block":
                #expect(head.status == 502)
                #expect(try JSONBody(head.body).codes == [code])
            case "stale": #expect(head.cacheStatus["detail"] == "stale_on_failure")
            case "annotate": #expect(head["larder-validation"] == code)
            default: #expect(head["larder-validation"] == nil)
            }
        }
    }

    @Test("An oversized body passes or is blocked, as the rule says", arguments: ["pass", "block"])
    func oversize(word: String) throws {
        let book = try book("block", ["wellformed": "json", "oversize": .text(word), "max_body": "10"])
        try ask(book, nil)
        let passes = word == "pass"
        try book.run(
            .response(200, "Cache-Control: max-age=60", "Content-Length: 30"), [.checkBody],
            .checked(.tooLarge, length: nil),
            passes ? [.releaseJoined, .sendChecked(store: false)] : [.discardUpstreamBody, .releaseJoined, .sendError],
            .delivered, [.finish])
        #expect(book.written?.status == (passes ? 200 : 502))
        if passes { #expect(book.written?["content-length"] == "30") }
    }

    @Test("A body in an unsupported coding is relayed unchanged if the rule allows it", arguments: ["pass", "annotate"])
    func unreadCoding(word: String) throws {
        let book = try book(.text(word), ["wellformed": "json"])
        try ask(book, nil)
        try book.run(
            .response(200, "Cache-Control: max-age=60", "Content-Length: 30", "Content-Encoding: br"), [.checkBody],
            .checked(.unsupportedCoding, length: nil), [.releaseJoined, .sendChecked(store: false)],
            .delivered, [.finish])
        #expect(book.written?["content-length"] == "30")
        #expect(book.written?["larder-validation"] == (word == "annotate" ? "unsupported_coding" : nil))
    }

    @Test("With a body check, a range is not forwarded but cut from the checked body")
    func cutsRangeFromTheWhole() throws {
        for (range, status, contentRange) in [
            ("bytes=0-3", UInt16(206), "bytes 0-3/12"), ("bytes=50-", 416, "bytes */12"), ("bytes=0-1,3-4", 206, "bytes 0-4/12"),
        ] as [(String, UInt16, String?)] {
            let book = try book("block", ["wellformed": "json"])
            try ask(book, nil, "Range: \(range)")
            #expect(book.forwarded("range") == nil)
            try book.run(
                .response(200, "Cache-Control: max-age=60", "Content-Length: 12"), [.checkBody],
                .checked(.passed, length: 12), [.sendChecked(store: true)],
                .delivered, [.finish])
            #expect(book.written?.status == status)
            #expect(book.written?["content-range"] == contentRange)
        }
    }

    @Test("A range request for a body too large to be checked gets the complete body")
    func oversizeRange() throws {
        let book = try book("block", ["wellformed": "json", "oversize": "pass"])
        try ask(book, nil, "Range: bytes=0-3")
        try book.run(
            .response(200, "Content-Length: 30"), [.checkBody],
            .checked(.tooLarge, length: nil), [.sendChecked(store: false)],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
        #expect(book.written?["content-length"] == "30")
    }

    @Test("An origin that fails while its body is gathered counts as an ordinary failure")
    func failsWhileChecking() throws {
        let book = try book("block", ["wellformed": "json"])
        try ask(book, nil)
        try book.run(
            .response(200, "Content-Length: 30"), [.checkBody],
            .fails(.responseIncomplete), [.releaseJoined, .sendError],
            .checked(.passed, length: 1), [],
            .delivered, [.finish])
        #expect(book.written?.status == 502)
    }

    @Test("An unsafe method invalidates stored responses even if its response is blocked")
    func invalidatesAllTheSame() throws {
        let book = try book("block", ["content_type": "application/json"])
        try book.run(
            .request("POST http://a.example/x", "Content-Length: 1"), [.fetch],
            .response(200, "Content-Type: text/html", "Content-Length: 3"), [.invalidate, .discardUpstreamBody, .sendError],
            .delivered, [.finish])
    }
}
