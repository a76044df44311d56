import HTTPCaching
import HTTPMessage
import Testing
@testable import Snapshots

@Suite("Responses derived from a complete recording")
struct DerivedAnswerTests {
    static func stored(_ change: (inout Exchange) -> Void = { _ in }) throws -> StoredResponse? {
        let fixture = SnapshotFixture()
        var exchange = Exchange("http://a:80/", "the whole")
        exchange.fields += [("ETag", "\"1\""), ("Last-Modified", "Mon, 23 Nov 2026 06:00:00 GMT"), ("Cache-Control", "no-store")]
        change(&exchange)
        try fixture.write([exchange])
        var cursors = SequenceCursors()
        let layer = try SnapshotLayer(Snapshot(path: fixture.path), key: nil)
        guard case .found(let found) = try layer.find(exchange.request, &cursors) else { return nil }
        return found.storedResponse(at: Exchange.began, body: .bytes(Array("the whole".utf8)))
    }

    static func request(_ name: String, _ value: String) throws -> RequestHead {
        let uri = Array("http://a:80/".utf8)
        guard var head = RequestHead(uri: uri.span, method: .get) else { throw SnapshotError.malformed("a URI") }
        head.fields.append(name: name, value: value)
        return head
    }

    @Test(
        "A client's own validators are evaluated against the recording, regardless of cache directives",
        arguments: [
            ("If-None-Match", "\"1\"", ConditionOutcome.notModified), ("If-None-Match", "\"2\"", .full),
            ("If-Modified-Since", "Mon, 23 Nov 2026 06:00:00 GMT", .notModified),
            ("If-Modified-Since", "Mon, 23 Nov 2026 05:00:00 GMT", .full),
        ])
    func evaluates(name: String, value: String, expected: ConditionOutcome) throws {
        let stored = try #require(try Self.stored())
        let request = try Self.request(name, value)
        #expect(Validation.evaluate(request, directives: RequestDirectives(request), against: stored) == expected)
        #expect(stored.preparedHead.text.contains("Content-Length: 9\r\n"))
    }

    @Test("Nothing is derived from a recording without the status of a final response")
    func leavesOthers() throws {
        #expect(try Self.stored { $0.status = 700 } == nil)
    }
}
