import HTTPMessage
import ServerTrust
import TestSupport
import Testing
@testable import Snapshots

@Suite("The row of a recording")
struct RecordingRowTests {
    static func recording() -> Recording {
        let digest = SHA256Digest(of: Array("body".utf8))
        var fields = Fields()
        fields.append(name: "Accept", value: "*/*")
        fields.append(name: "accept", value: "")
        return Recording(
            request: RecordedRequest(
                method: Array("POST".utf8), uri: Array("http://example.com:80/a?b".utf8), fields: fields,
                body: RecordedBody(digest: digest, length: 4, pieces: digest, isKept: false)),
            response: RecordedResponse(
                status: Status(201), reason: Array("Made".utf8), fields: fields, trailers: fields,
                body: RecordedBody(digest: digest, length: 4, pieces: digest, isKept: true)),
            failure: RecordedFailure(.cutShort, code: "connection_lost"),
            times: RecordedTimes(started: Timestamp(milliseconds: 1_795_415_000_123), phases: [1, nil, 3]),
            chain: digest,
            identity: RequestIdentity(primary: PrimaryKey(digest), key: digest, secrets: SHA256Digest(of: [])),
            generation: 3, position: 70_000)
    }

    @Test("What is written is read again, and written to the same octets")
    func roundTrip() throws {
        let row = RecordingRow.encode(Self.recording())
        let read = try #require(RecordingRow.decode(row))
        #expect(RecordingRow.encode(read) == row)
        #expect(read.generation == 3)
        #expect(read.position == 70_000)
        #expect(read.request.body?.isKept == false)
        #expect(read.response?.status.code == 201)
        #expect(read.failure == RecordedFailure(.cutShort, code: "connection_lost"))
        #expect(read.times[.dns] == nil)
        #expect(read.times[.connect] == 3)
    }

    @Test("A row that is cut, or has octets behind its end, is none")
    func isWhole() {
        let row = RecordingRow.encode(Self.recording())
        for count in 0..<row.count { #expect(RecordingRow.decode(Array(row[..<count])) == nil || count == row.count) }
        #expect(RecordingRow.decode(row + [0]) == nil)
    }

    @Test("What is read of any octets is written to them again", arguments: 0..<20 as Range<UInt64>)
    func isCanonical(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let row = RecordingRow.encode(Self.recording())
        for _ in 0..<500 {
            var changed = row
            for _ in 0...chance.below(3) { changed[chance.below(changed.count)] = UInt8(truncatingIfNeeded: chance.next()) }
            guard let read = RecordingRow.decode(changed) else { continue }
            #expect(RecordingRow.encode(read) == changed)
        }
    }
}
