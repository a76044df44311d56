import HTTPMessage
import ServerTrust
import TestSupport
import Testing
@testable import Snapshots

@Suite("Rows of recordings")
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
                earlyHints: [fields, Fields(), fields],
                body: RecordedBody(digest: digest, length: 4, pieces: digest, isKept: true)),
            failure: RecordedFailure(.cutShort, code: "connection_lost"),
            times: RecordedTimes(started: Timestamp(milliseconds: 1_795_415_000_123), phases: [1, nil, 3]),
            chain: digest,
            identity: RequestIdentity(primary: PrimaryKey(digest), key: digest, secrets: SHA256Digest(of: [])),
            generation: 3, position: 70_000)
    }

    @Test("A row decodes to the recording, which encodes to the same bytes")
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

    @Test(
        "A recording whose start is not a calendar date is refused as damaged",
        arguments: [Int64.min, -62_167_219_201_000, 253_402_300_800_000, .max])
    func refusesTimes(milliseconds: Int64) {
        var recording = Self.recording()
        recording.times.started = Timestamp(milliseconds: milliseconds)
        #expect(RecordingRow.decode(RecordingRow.encode(recording)) == nil)
    }

    @Test("The 103s follow the other parts in order; a row without them is unchanged")
    func holdsEarlyHints() throws {
        var recording = Self.recording()
        let read = try #require(RecordingRow.decode(RecordingRow.encode(recording)))
        #expect(read.response?.earlyHints.map(\.count) == [2, 0, 2])
        let with = RecordingRow.encode(recording)
        recording.response?.earlyHints = []
        let without = RecordingRow.encode(recording)
        // Except for the marks.
        #expect(with.starts(with: without.dropLast()) && with[without.count - 1] == 2 && with[without.count] == 15)
        #expect(without.last == 0)
        #expect(RecordingRow.decode(without)?.response?.earlyHints.isEmpty == true)
    }

    @Test("103s are decoded up to their limits", arguments: [0, 1])
    func limitsEarlyHints(excess: Int) {
        var recording = Self.recording()
        recording.response?.earlyHints = Array(repeating: Fields(), count: SnapshotLimits.earlyHints + excess)
        #expect((RecordingRow.decode(RecordingRow.encode(recording)) == nil) == (excess > 0))
        var long = Fields()
        long.append(name: "a", value: String(repeating: "b", count: SnapshotLimits.earlyHintsLength - 4 + excess))
        recording.response?.earlyHints = [long]
        #expect((RecordingRow.decode(RecordingRow.encode(recording)) == nil) == (excess > 0))
    }

    @Test(
        "A row with a malformed 103 is refused",
        arguments: ["", "a:b\n", "a:b\nc", "a:b\n\nc", "a\n\n", ":b\n\n", "a:b\r\n\n", "a b:c\n\n", "a:\u{0}\n\n"])
    func refusesDamagedEarlyHints(octets: String) {
        var recording = Self.recording()
        recording.response?.earlyHints = []
        func row(_ octets: String, marks: UInt8 = 2) -> [UInt8] {
            var row = RecordingRow.encode(recording)
            row[row.count - 1] = marks
            row.append(15)
            row.append(bigEndian: UInt32(octets.utf8.count))
            return row + octets.utf8
        }
        #expect(RecordingRow.decode(row("a:b\n\n")) != nil && RecordingRow.decode(row(octets)) == nil)
        #expect(RecordingRow.decode(row("a:b\n\n", marks: 0)) == nil)
        recording.response = nil
        #expect(RecordingRow.decode(row("a:b\n\n")) == nil)
    }

    @Test("A row that is truncated or has extra bytes is refused")
    func isWhole() {
        let row = RecordingRow.encode(Self.recording())
        for count in 0..<row.count { #expect(RecordingRow.decode(Array(row[..<count])) == nil || count == row.count) }
        #expect(RecordingRow.decode(row + [0]) == nil)
    }

    @Test("Any bytes that decode also encode to the same bytes", arguments: 0..<20 as Range<UInt64>)
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
