import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Incomplete responses (RFC 9111 §3.3)")
struct PartialResponseTests {
    private func partial(_ extents: [Range<UInt64>]) -> PartialResponse {
        let response = StoredResponse(
            key: [], nominatedFields: [], facts: ReuseFacts(status: .ok, responseTime: Timestamp(seconds: 0)),
            head: ResponseHead(),
            requestTime: Timestamp(seconds: 0), body: .onDisk(BodyReference(id: -1, length: 100)))
        return PartialResponse(response, extents: extents)
    }

    @Test(
        "The range to fetch is from the first to the last missing byte",
        arguments: [
            (0..<100, 20..<80), (0..<20, 20..<20), (0..<50, 20..<40), (30..<50, 30..<40), (10..<90, 20..<80), (85..<100, 85..<85),
            (70..<95, 70..<80), (5..<15, 15..<15),
        ] as [(Range<UInt64>, Range<UInt64>)])
    func tellsMissing(range: Range<UInt64>, missing: Range<UInt64>) {
        let stored = partial([0..<20, 40..<60, 80..<100])
        #expect(stored.missing(of: range).isEmpty == missing.isEmpty)
        if !missing.isEmpty { #expect(stored.missing(of: range) == missing) }
        #expect(stored.holds(range) == missing.isEmpty)
    }

    @Test(
        "The first gap ends where stored bytes follow",
        arguments: [
            ([0..<20, 40..<60], 20..<40), ([10..<20], 0..<10), ([0..<20], 20..<100), ([], 0..<100), ([0..<100], 100..<100),
        ] as [([Range<UInt64>], Range<UInt64>)])
    func tellsFirstGap(extents: [Range<UInt64>], gap: Range<UInt64>) { #expect(partial(extents).firstGap == gap) }

    @Test("The head made from a 206 has the complete length and no Content-Range")
    func makesWholeHead() {
        var response = ResponseHead()
        response.status = .partialContent
        response.fields.append("ETag", "\"v1\"")
        response.fields.append("Content-Range", "bytes 10-19/100")
        response.fields.append("Content-Length", "10")
        let whole = PartialContent.wholeHead(of: response, length: 100)
        #expect(whole.status == .ok)
        #expect(!whole.fields.contains(.contentRange))
        #expect(whole.fields.first(.contentLength).map { whole.fields.value(of: $0).equals("100") } == true)
        #expect(whole.fields.first(.etag).map { whole.fields.value(of: $0).equals("\"v1\"") } == true)
    }
}
