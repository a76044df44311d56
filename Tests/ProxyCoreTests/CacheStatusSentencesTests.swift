import HTTPCaching
import Testing

@testable import ProxyCore

@Suite("Responses without and with a Cache-Status member (RFC 9211 §2)")
struct CacheStatusSentencesTests {
    @Test(
        "An error without a look-up has no member",
        arguments: [
            ("GET /x", "X: 1"), ("GET http://a.example/x", "Via: 1.1 larder"),
            ("GET http://a.example/x", "Expect: more"), ("CONNECT a.example:22", "X: 1"),
        ])
    func noneInErrors(line: String, field: String) throws {
        let book = try Playbook()
        try book.run(.request(line, field), [.sendError], .delivered, [.finish])
        #expect(book.written?["cache-status"] == nil)
    }

    @Test(
        "A locally generated response has no member",
        arguments: [("OPTIONS *", "X: 1"), ("TRACE http://a.example/", "Max-Forwards: 0")])
    func noneInLocalAnswers(line: String, field: String) throws {
        let book = try Playbook()
        try book.run(.request(line, field), [.sendLocal], .delivered, [.finish])
        #expect(book.written?["cache-status"] == nil)
    }

    @Test(
        "A response derived from a stored one has a member",
        arguments: [("If-None-Match: \"v1\"", UInt16(304)), ("Range: bytes=0-3", 206), ("Range: bytes=10-", 416)])
    func oneInDerivedAnswers(field: String, status: UInt16) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", field), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"")]), [.sendStored],
            .delivered, [.finish])
        #expect(book.written?.status == status)
        #expect(book.written?.cacheStatus == ["hit": "", "ttl": "60"])
    }

    @Test("An error after a look-up tells why no stored response was used")
    func whyNothingStored() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .fails(.connectionRefused), [.releaseJoined, .sendError],
            .delivered, [.finish])
        #expect(book.written?.cacheStatus == ["fwd": "uri-miss"])
    }
}
