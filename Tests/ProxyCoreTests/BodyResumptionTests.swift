import HTTPMessage
import HTTPWire
import Testing

@testable import ProxyCore

@Suite("Responses that may continue a truncated body (RFC 9110 §13.1.5, §14.2; RFC 9111 §3.4)")
struct BodyResumptionTests {
    private func head(_ status: Int, _ fields: [String]) throws -> ResponseHead {
        var head = ResponseHead()
        try Messages.read(Messages.responseText(status, fields), into: &head)
        return head
    }

    private let whole = ["ETag: \"v1\"", "Content-Length: 100"]

    @Test(
        "Only a response with a strong entity tag is resumed",
        arguments: [
            (200, ["ETag: \"v1\"", "Content-Length: 100"], true),
            (200, ["ETag: \"v1\"", "Transfer-Encoding: chunked"], true),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 10-19/100"], true),
            (200, ["ETag: W/\"v1\"", "Content-Length: 100"], false),
            (200, ["Last-Modified: Tue, 14 Nov 2023 19:00:00 GMT", "Content-Length: 100"], false),
            (200, ["ETag: v1", "Content-Length: 100"], false),
            (200, ["ETag: \"v1\"", "ETag: \"v2\"", "Content-Length: 100"], false),
            (200, ["ETag: \"v1\"", "Accept-Ranges: none", "Content-Length: 100"], false),
            (206, ["ETag: \"v1\"", "Content-Type: multipart/byteranges; boundary=x"], false),
            (404, ["ETag: \"v1\"", "Content-Length: 100"], false),
        ])
    func continues(status: Int, fields: [String], expected: Bool) throws {
        #expect((BodyResumption(of: try head(status, fields)) != nil) == expected)
    }

    @Test(
        "The continuation must begin where the body stopped, end within it, and be of the same representation",
        arguments: [
            (206, ["ETag: \"v1\"", "Content-Range: bytes 40-99/100"], true),
            // An origin may send less than requested.
            (206, ["ETag: \"v1\"", "Content-Range: bytes 40-49/100"], true),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 40-99/*"], true),
            (200, ["ETag: \"v1\"", "Content-Range: bytes 40-99/100"], false),
            (206, ["ETag: \"v2\"", "Content-Range: bytes 40-99/100"], false),
            (206, ["ETag: W/\"v1\"", "Content-Range: bytes 40-99/100"], false),
            (206, ["Content-Range: bytes 40-99/100"], false),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 39-99/100"], false),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 41-99/100"], false),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 40-100/101"], false),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 40-98/99"], false),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 40-100/*"], false),
            (206, ["ETag: \"v1\"", "Content-Range: items 40-99/100"], false),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 40-99/100", "Content-Range: bytes 40-99/100"], false),
            (206, ["ETag: \"v1\"", "Content-Range: bytes 40-99/100", "Content-Encoding: gzip"], false),
        ])
    func accepts(status: Int, fields: [String], expected: Bool) throws {
        let first = try head(200, whole)
        var continuation = try #require(BodyResumption(of: first))
        _ = continuation.begin(after: 40)
        let answer = try head(status, fields)
        var length: UInt64 = 60
        if case .part(let range, _)? = BodyResumption.contentRange(of: answer.fields) { length = UInt64(range.count) }
        let accepted = continuation.accepts(answer, body: .known(length), continuing: first)
        #expect(accepted == expected)
        // A different length, or none, never fits.
        for body in [BodyLength.known(length + 1), .unknown, .none] {
            var other = try #require(BodyResumption(of: first))
            _ = other.begin(after: 40)
            let isAccepted = other.accepts(answer, body: body, continuing: first)
            #expect(!isAccepted)
        }
    }

    @Test("If no length was given, the continuation gives it, and the end is known from then on")
    func learnsLength() throws {
        let first = try head(200, ["ETag: \"v1\"", "Transfer-Encoding: chunked"])
        var continuation = try #require(BodyResumption(of: first))
        _ = continuation.begin(after: 40)
        let unknown = try head(206, ["ETag: \"v1\"", "Content-Range: bytes 40-49/*"])
        let endless = continuation.accepts(unknown, body: .known(10), continuing: first)
        #expect(!endless)
        let answer = try head(206, ["ETag: \"v1\"", "Content-Range: bytes 40-49/100"])
        let accepted = continuation.accepts(answer, body: .known(10), continuing: first)
        #expect(accepted)
        #expect(continuation.isUnfinished(after: 50))
        #expect(!continuation.isUnfinished(after: 100))
    }

    @Test("A part is resumed up to its own end")
    func continuesPart() throws {
        let first = try head(206, ["ETag: \"v1\"", "Content-Range: bytes 10-29/100"])
        var continuation = try #require(BodyResumption(of: first))
        _ = continuation.begin(after: 5)
        let fields = continuation.fields(from: Fields())
        #expect(fields.first(.range).map { fields.value(of: $0).equals("bytes=15-29") } == true)
        let beyond = try head(206, ["ETag: \"v1\"", "Content-Range: bytes 15-99/100"])
        let accepted = continuation.accepts(beyond, body: .known(85), continuing: first)
        #expect(!accepted)
    }

    @Test("The number of attempts is limited, most strictly for those without progress")
    func isBounded() throws {
        let first = try head(200, ["ETag: \"v1\"", "Content-Length: 100000"])
        var barren = try #require(BodyResumption(of: first))
        let tries = (0..<10).filter { _ in barren.begin(after: 40) }
        #expect(tries.count == BodyResumption.barrenLimit)
        var fruitful = try #require(BodyResumption(of: first))
        let continuations = (1...1000).filter { fruitful.begin(after: UInt64($0)) }
        #expect(continuations.count == BodyResumption.limit)
        var complete = try #require(BodyResumption(of: first))
        let goesOn = complete.begin(after: 100_000)
        #expect(!goesOn)
    }
}
