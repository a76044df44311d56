import HTTPCaching
import Testing

@testable import ProxyCore

@Suite("What a cache forwards (RFC 9111)")
struct PassedOnSentencesTests {
    @Test(
        "§4.3.2: conditions on a response that is not stored are forwarded, and the origin's response is the client's",
        arguments: [
            ("If-None-Match: \"v1\"", 304), ("If-Modified-Since: Tue, 14 Nov 2023 19:00:00 GMT", 304), ("If-Match: \"v1\"", 412),
            ("If-Unmodified-Since: Tue, 14 Nov 2023 19:00:00 GMT", 412),
        ])
    func conditionsOnWhatIsNotStored(condition: String, status: Int) throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x", condition), [.lookUp(onDisk: false)],
            .found([]), [.fetch],
            .response(status, "ETag: \"v1\""), [.relay(store: false)],
            .delivered, [.finish])
        let parts = condition.split(separator: ": ", maxSplits: 1)
        #expect(book.forwarded(String(parts[0])) == String(parts[1]))
        #expect(book.written?.status == UInt16(status))
    }

    @Test(
        "§5.2: cache directives are forwarded in both directions, known or not",
        arguments: ["max-age=0, x-own=\"a, b\"", "no-store", "ONLY-me, , max-stale", "community=\"UCI\", immutable"])
    func directives(value: String) throws {
        let book = try Playbook()
        try book.run(
            .request("POST http://a.example/x", "Cache-Control: \(value)", "Content-Length: 0"), [.fetch],
            .response(404, "Cache-Control: \(value)", "Content-Length: 0"), [.relay(store: false)],
            .delivered, [.finish])
        #expect(book.forwarded("cache-control") == value)
        #expect(book.written?["cache-control"] == value)
    }
}
