import HTTPCaching
import Testing

@testable import ProxyCore

@Suite("A 304 to a request without a condition (RFC 9110 §15.4.5)")
struct UnaskedNotModifiedTests {
    @Test(
        "T39 Such a 304 gives 502, because the client has nothing that it could refer to",
        arguments: ["GET", "HEAD"], ["X-Other: 1", "If-Match: \"v1\"", "If-Range: \"v1\""])
    func refuses(method: String, field: String) throws {
        let book = try Playbook()
        try book.run(
            .request("\(method) http://a.example/x", field, "Authorization: Basic x"), [.lookUp(onDisk: false)],
            .found([]), [.fetch],
            .response(304, "ETag: \"v1\""), [.discardUpstreamBody, .sendError],
            .delivered, [.finish])
        #expect(book.written?.status == 502)
        #expect(book.exchange.trace.fault == .unexpectedNotModified)
    }

    @Test("T39 A 304 to an unconditional unsafe request fails too, and stored responses are invalidated (RFC 9111 §4.4)")
    func refusesUnsafe() throws {
        let book = try Playbook()
        try book.run(
            .request("DELETE http://a.example/x"), [.fetch],
            .response(304), [.invalidate, .discardUpstreamBody, .sendError],
            .delivered, [.finish])
        #expect(book.written?.status == 502)
    }

    @Test(
        "An unasked 304 counts as an origin failure, for which a stored response may be used (RFC 5861 §4)",
        arguments: [true, false])
    func standsIn(mayBeStale: Bool) throws {
        let book = try Playbook()
        let control = "Cache-Control: max-age=60" + (mayBeStale ? ", stale-if-error=60" : "")
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try Messages.stored(control, age: 70)]), [.joinFetch],
            .leads, [.fetch],
            .response(304), [.discardUpstreamBody, .releaseJoined, mayBeStale ? .sendStored : .sendError],
            .delivered, [.finish])
        #expect(book.written?.status == (mayBeStale ? 200 : 504))
    }

    @Test("In the background it leaves the stored response unchanged")
    func leavesStored() throws {
        let book = try Playbook()
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([try Messages.stored("Cache-Control: max-age=60, stale-while-revalidate=60", age: 70)]),
            [.sendStored, .validateInBackground])
        let background = book.validating()
        try background.run(
            .validates, [.fetch],
            .response(304), [.discardUpstreamBody, .releaseJoined, .finish])
        #expect(background.exchange.trace.outcome == .failed)
    }
}
