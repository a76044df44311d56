import HTTPCaching
import HTTPMessage
import Testing

@testable import Snapshots

@Suite("The response delivered from a recording")
struct ReplayedResponseTests {
    private static let terms = ReplayTerms(wholeLength: 1 << 20, decodedLength: 1 << 20, movesDates: false)

    private static func replayed(
        _ exchange: Exchange, to request: Exchange? = nil, _ terms: ReplayTerms = terms, end: SequenceEnd = .loop,
        failure: RecordedFailure? = nil
    ) throws -> ReplayedRecording? {
        let fixture = SnapshotFixture()
        try fixture.write([exchange])
        let layer = try SnapshotLayer(Snapshot(path: fixture.path), key: nil, end: end)
        var cursors = SequenceCursors()
        let request = (request ?? exchange).request
        guard case .found(let found) = try layer.find(request, &cursors) else { throw SnapshotError.malformed("not found") }
        var recording = found.recording
        recording.failure = failure
        let changed = FoundRecording(
            recording: recording, place: found.place, position: found.position, sequenceLength: found.sequenceLength,
            isFromGet: found.isFromGet)
        return try layer.replayed(changed, to: request, at: Exchange.began.advanced(seconds: 60), terms)
    }

    /// The content in memory, or the length of the content to read later.
    private static func content(_ stored: StoredResponse) -> String {
        switch stored.body {
        case .bytes(let bytes): bytes.text
        case .onDisk(let body): "\(body.length) bytes"
        }
    }

    private static let packed = Base64.decode(Array(SecretTests.coded.utf8)) ?? []

    @Test(
        "A coding that the client does not accept is removed up to the limit, and one that it accepts stays",
        arguments: [
            (nil, 1 << 20, false), ("gzip", 1 << 20, false), ("GZIP;q=0.5", 1 << 20, false), ("br, *", 1 << 20, false),
            ("br", 1 << 20, true), ("", 1 << 20, true), ("gzip;q=0", 1 << 20, true), ("gzip;q=0.000, br", 1 << 20, true),
            ("identity", 61, false), ("identity", 62, true),
        ] as [(String?, Int, Bool)])
    func removesCodings(accepted: String?, limit: Int, isRemoved: Bool) throws {
        var exchange = Exchange("http://a:80/")
        exchange.fields = [("Content-Type", "application/json"), ("Content-Encoding", "x-gzip"), ("Content-Length", "1")]
        exchange.body = Self.packed
        var request = exchange
        if let accepted { request.requestFields = [("Accept-Encoding", accepted)] }
        var terms = Self.terms
        terms.decodedLength = UInt64(limit)
        let replayed = try #require(try Self.replayed(exchange, to: request, terms))
        guard case .response(let stored, _, _) = replayed.response, case .bytes(let bytes) = stored.body else {
            Issue.record("no content")
            return
        }
        #expect(stored.head.fields.contains(.contentEncoding) == !isRemoved)
        #expect((bytes == Self.packed) == !isRemoved && (bytes.first == UInt8(ascii: "{")) == isRemoved)
        #expect(replayed.body == nil && replayed.digest != nil)
    }

    @Test("A body longer than the limit is read in pieces", arguments: [8, 9])
    func readsLater(wholeLength: UInt64) throws {
        var terms = Self.terms
        terms.wholeLength = wholeLength
        let replayed = try #require(try Self.replayed(Exchange("http://a:80/", "the whole"), terms))
        guard case .response(let stored, isLengthTold: true, _) = replayed.response else {
            Issue.record("\(replayed.response)")
            return
        }
        #expect(Self.content(stored) == (wholeLength == 9 ? "the whole" : "9 bytes"))
        #expect(replayed.body?.length == (wholeLength == 9 ? nil : 9))
    }

    @Test(
        "The response to HEAD has the recorded Content-Length, or the length of the recorded GET, and no content",
        arguments: [("HEAD", "5000", "5000 bytes", true), ("HEAD", nil, "", false), ("GET", nil, "the whole", true)]
            as [(String, String?, String, Bool)])
    func answersHead(recorded: String, length: String?, content: String, isLengthTold: Bool) throws {
        var exchange = Exchange("http://a:80/", recorded == "GET" ? "the whole" : "")
        exchange.method = recorded
        if let length { exchange.fields.append(("Content-Length", length)) }
        var request = exchange
        request.method = "HEAD"
        let replayed = try #require(try Self.replayed(exchange, to: request))
        guard case .response(let stored, let tells, let isLasting) = replayed.response else {
            Issue.record("\(replayed.response)")
            return
        }
        #expect(Self.content(stored) == content && tells == isLengthTold && isLasting == isLengthTold)
        #expect(replayed.body == nil)
    }

    @Test("A recorded failure follows the recorded part of the response, or is replayed alone if there was none")
    func breaksOff() throws {
        let failure = RecordedFailure(.cutShort, code: "upstream_cut_short")
        var exchange = Exchange("http://a:80/", "half")
        exchange.fields = [("Content-Length", "8")]
        exchange.earlyHints = [[("Link", "</a>")]]
        let replayed = try #require(try Self.replayed(exchange, failure: failure))
        guard case .broken(let stored, toldLength: 8, failure) = replayed.response else {
            Issue.record("\(replayed.response)")
            return
        }
        #expect(Self.content(stored) == "4 bytes" && replayed.body?.length == 4 && replayed.earlyHints.count == 1)
        exchange.status = 700
        let other = try #require(try Self.replayed(exchange, failure: failure))
        guard case .failure(failure) = other.response else {
            Issue.record("\(other.response)")
            return
        }
        #expect(other.body == nil && other.earlyHints.isEmpty)
    }

    @Test("A response that may differ the next time is not remembered")
    func tellsWhatLasts() throws {
        func isLasting(_ change: (inout ReplayTerms) -> Void = { _ in }, end: SequenceEnd = .loop) throws -> Bool {
            var terms = Self.terms
            change(&terms)
            let exchange = Exchange("http://a:80/", "the whole")
            guard case .response(_, _, let isLasting) = try Self.replayed(exchange, terms, end: end)?.response else {
                throw SnapshotError.malformed("not found")
            }
            return isLasting
        }
        #expect(try isLasting())
        #expect(try !isLasting({ $0.movesDates = true }))
        #expect(try !isLasting(end: .error))
        #expect(try isLasting(end: .last))
    }

    @Test("A recording without the status of a final response gives no response")
    func leavesOthers() throws {
        var exchange = Exchange("http://a:80/", "the whole")
        exchange.status = 700
        #expect(try Self.replayed(exchange) == nil)
    }
}
