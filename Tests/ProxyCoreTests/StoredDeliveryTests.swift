import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Responses from the store (RFC 9111 §4)")
struct StoredDeliveryTests {
    let fresh = "Cache-Control: max-age=60"

    @Test("A fresh response is delivered with its age, without a request to the origin")
    func deliversFresh() throws {
        let book = try Playbook()
        let stored = try Messages.stored(fresh, "X-Own: 1", age: 7)
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([stored]), [.sendStored],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == 200)
        #expect(head["age"] == "7")
        #expect(head["x-own"] == "1")
        #expect(head["content-length"] == "10")
        #expect(head.cacheStatus == ["hit": "", "ttl": "53"])
        #expect(book.exchange.trace.outcome == .hit)
        #expect(book.exchange.trace.status == 200)
    }

    @Test("The disk is queried if memory does not have the response")
    func looksOnTheDisk() throws {
        let book = try Playbook()
        let stored = try Messages.stored(fresh)
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([], isComplete: false), [.lookUp(onDisk: true)],
            .found([stored]), [.sendStored],
            .delivered, [.finish])
    }

    @Test("HEAD is answered from a stored GET, with its length and without content")
    func answersHead() throws {
        let book = try Playbook()
        try book.run(
            .request("HEAD http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?["content-length"] == "10")
        #expect(book.exchange.delivery.length == .none)
    }

    @Test(
        "A condition that is met gets 304, without fields that describe the content",
        arguments: [
            ["If-None-Match: \"v1\""], ["If-None-Match: \"v0\", W/\"v1\""], ["If-None-Match: *"],
            ["If-Modified-Since: Tue, 14 Nov 2023 20:00:00 GMT"],
            // If-Modified-Since is ignored together with If-None-Match (RFC 9110 §13.1.3).
            ["If-None-Match: \"v1\"", "If-Modified-Since: Tue, 14 Nov 2000 20:00:00 GMT"],
        ])
    func answersNotModified(fields: [String]) throws {
        let book = try Playbook()
        let stored = try Messages.stored(
            fresh, "ETag: \"v1\"", "Last-Modified: Tue, 14 Nov 2023 19:00:00 GMT", "Content-Type: text/plain")
        try book.run(
            .request("GET http://a.example/x", fields), [.lookUp(onDisk: false)],
            .found([stored]), [.sendStored],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == 304)
        #expect(head["etag"] == "\"v1\"")
        #expect(head["cache-control"] == "max-age=60")
        #expect(head["content-type"] == nil)
        #expect(head["content-length"] == nil)
        #expect(head.cacheStatus["hit"] == "")
    }

    @Test(
        "A condition that is not met gets the complete response", arguments: ["If-None-Match: \"v0\"", "If-None-Match: broken"])
    func answersWhole(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh, "ETag: \"v1\"")]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
    }

    @Test(
        "One range is cut from the stored body",
        arguments: [
            ("bytes=0-3", "bytes 0-3/10", "4"), ("bytes=8-", "bytes 8-9/10", "2"), ("bytes=-3", "bytes 7-9/10", "3"),
            ("bytes=2-99", "bytes 2-9/10", "8"), ("bytes=-99", "bytes 0-9/10", "10"),
        ])
    func cutsRange(range: String, contentRange: String, length: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Range: \(range)"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == 206)
        #expect(head["content-range"] == contentRange)
        #expect(head["content-length"] == length)
        #expect(head["age"] == "0")
    }

    @Test("A range past the end gets 416 with the length", arguments: ["bytes=10-", "bytes=10-20", "bytes=-0"])
    func refusesRange(range: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Range: \(range)"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .delivered, [.finish])
        let head = try #require(book.written)
        #expect(head.status == 416)
        #expect(head["content-range"] == "bytes */10")
        #expect(head["content-length"] == "0")
    }

    @Test(
        "T26: invalid ranges, other units, and ranges that cover everything get the complete response from the store",
        arguments: [
            "bytes=5-1", "bytes=a-b", "lines=1-2", "bytes=", "bytes=0-1,,9-", "bytes=0-4,0-9,3-", "",
            "bytes=" + Array(repeating: "0-", count: 200).joined(separator: ","),
        ])
    func passesOverRange(range: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Range: \(range)"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
        #expect(book.written?["content-length"] == "10")
    }

    @Test("Several ranges are sent as parts, each with its range and the representation's type; the message has a length")
    func sendsParts() throws {
        let book = try Playbook()
        let stored = try Messages.stored(fresh, "Content-Type: text/css", body: String(repeating: "0123456789", count: 100))
        try book.run(
            .request("GET http://a.example/x", "Range: bytes=500-502, 0-0, -1, 2000-"), [.lookUp(onDisk: false)],
            .found([stored]), [.sendStored],
            .delivered, [.finish])
        let head = try #require(book.written)
        let multipart = try #require(book.exchange.delivery.multipart)
        #expect(head.status == 206)
        #expect(head["content-range"] == nil)
        let type = try #require(head["content-type"])
        #expect(type.hasPrefix("multipart/byteranges; boundary="))
        let boundary = type.split(separator: "=").last.map(String.init) ?? ""
        #expect(multipart.parts == [500..<503, 0..<1, 999..<1000])
        var content: [UInt8] = []
        for index in 0..<3 { multipart.writePartHead(index, into: &content) }
        multipart.writeEnd(into: &content)
        #expect(head["content-length"] == "\(content.count + 5)")
        let part = "\r\n--\(boundary)\r\nContent-Type: text/css\r\nContent-Range: bytes "
        #expect(
            String(decoding: content, as: UTF8.self)
                == "\(part)500-502/1000\r\n\r\n\(part)0-0/1000\r\n\r\n\(part)999-999/1000\r\n\r\n\r\n--\(boundary)--\r\n")
    }

    @Test("Several ranges past the end get 416")
    func refusesSeveralRanges() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Range: bytes=10-,20-30"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == 416)
        #expect(book.written?["content-range"] == "bytes */10")
    }

    @Test("T26: a suffix range of an empty body gets the empty body", arguments: ["bytes=-1", "bytes=-99"])
    func rangeOfNothing(range: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Range: \(range)"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh, body: "")]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
        #expect(book.written?["content-length"] == "0")
    }

    @Test(
        "A range is only cut from the representation that If-Range names (RFC 9110 §13.1.5)",
        arguments: [
            ("\"v1\"", UInt16(206)), ("\"v2\"", 200), ("W/\"v1\"", 200), ("Tue, 14 Nov 2023 19:00:00 GMT", 206),
            ("Tue, 14 Nov 2023 19:00:01 GMT", 200), ("nonsense", 200),
        ])
    func heedsIfRange(condition: String, status: UInt16) throws {
        let book = try Playbook()
        let stored = try Messages.stored(fresh, "ETag: \"v1\"", "Last-Modified: Tue, 14 Nov 2023 19:00:00 GMT")
        try book.run(
            .request("GET http://a.example/x", "Range: bytes=0-3", "If-Range: \(condition)"), [.lookUp(onDisk: false)],
            .found([stored]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == status)
    }

    @Test("Range is ignored for HEAD, and for stored responses other than 200")
    func cutsOnlyGetOfOK() throws {
        let head = try Playbook()
        try head.run(
            .request("HEAD http://a.example/x", "Range: bytes=0-3"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .delivered, [.finish])
        #expect(head.written?.status == 200)
        let missing = try Playbook()
        try missing.run(
            .request("GET http://a.example/x", "Range: bytes=0-3"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh, status: 404)]), [.sendStored],
            .delivered, [.finish])
        #expect(missing.written?.status == 404)
    }

    @Test("A stored 204 has no length, even if a rule edits it")
    func storedNoContent() throws {
        let rule: [[String: Setting]] = [["response": ["set": ["X-Rule": "1"]]]]
        for rules in [[], rule] {
            let book = try Playbook(rules: rules)
            try book.run(
                .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
                .found([try Messages.stored(fresh, body: "", status: 204)]), [.sendStored],
                .delivered, [.finish])
            #expect(book.written?.status == 204)
        }
    }

    @Test("max-stale allows a stale response, and the reason is reported")
    func servesStaleForTheClient() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Cache-Control: max-stale=100"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh, age: 70)]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["hit": "", "ttl": "-10", "detail": "max_stale"])
        #expect(book.exchange.trace.outcome == .staleHit)
    }

    @Test("A body that is cut off during delivery aborts the connection")
    func abortsWhenTheBodyBreaksOff() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .cut, [.abortClient, .finish])
    }

    @Test("T18: fields that are not in the key neither prevent the use of a stored response nor change the key")
    func unkeyedInputUsesTheStore() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "X-Forwarded-Host: evil.example", "X-Original-URL: /y"),
            [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .delivered, [.finish])
        #expect(String(decoding: book.exchange.key, as: UTF8.self) == "http://a.example:80/x")
    }
}
