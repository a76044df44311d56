import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Answers from the store (RFC 9111 §4)")
struct StoredDeliveryTests {
    let fresh = "Cache-Control: max-age=60"

    @Test("A fresh response is delivered with its age, without asking anyone")
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

    @Test("What memory does not know is looked for on the disk")
    func looksOnTheDisk() throws {
        let book = try Playbook()
        let stored = try Messages.stored(fresh)
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([], isComplete: false), [.lookUp(onDisk: true)],
            .found([stored]), [.sendStored],
            .delivered, [.finish])
    }

    @Test("HEAD is answered from a stored GET, with the length and without the content")
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
        "A client's condition that is met is answered 304 without the fields of a content that is not sent",
        arguments: [
            ["If-None-Match: \"v1\""], ["If-None-Match: \"v0\", W/\"v1\""], ["If-None-Match: *"],
            ["If-Modified-Since: Tue, 14 Nov 2023 20:00:00 GMT"],
            // If-Modified-Since means nothing beside If-None-Match (RFC 9110 §13.1.3).
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

    @Test("A condition that is not met is answered whole", arguments: ["If-None-Match: \"v0\"", "If-None-Match: broken"])
    func answersWhole(field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh, "ETag: \"v1\"")]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
    }

    @Test(
        "One range is cut from what is stored",
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

    @Test("A range behind the end is answered 416 with the length", arguments: ["bytes=10-", "bytes=10-20", "bytes=-0"])
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
        "T26: nonsense, other units, and several ranges that leave out nothing, are answered with the whole, from the store",
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

    @Test("Several ranges come as parts, each with its place and the representation's type; the message has a length")
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

    @Test("Several ranges behind the end are answered 416")
    func refusesSeveralRanges() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Range: bytes=10-,20-30"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == 416)
        #expect(book.written?["content-range"] == "bytes */10")
    }

    @Test("T26: the end of an empty body is asked for, and the empty body is what comes", arguments: ["bytes=-1", "bytes=-99"])
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
        "A range is cut only of the representation that If-Range names (RFC 9110 §13.1.5)",
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

    @Test("Range means nothing beside HEAD, and only a 200 has ranges")
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

    @Test("A stored 204 has no length, even where a rule edits it")
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

    @Test("Max-stale lets a stale response go out; the reason is said")
    func servesStaleForTheClient() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", "Cache-Control: max-stale=100"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh, age: 70)]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["hit": "", "ttl": "-10", "detail": "max_stale"])
        #expect(book.exchange.trace.outcome == .staleHit)
    }

    @Test("A body that breaks off on its way ends the connection")
    func abortsWhenTheBodyBreaksOff() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(fresh)]), [.sendStored],
            .cut, [.abortClient, .finish])
    }

    @Test("T18: fields that stand in no key do not keep a stored response from being used, nor take its place")
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
