import HTTPMessage
import Testing

@testable import Snapshots

@Suite("Recording of 103 (Early Hints)")
struct EarlyHintsTests {
    @Test("From the first 103 that exceeds the limits, none is recorded")
    func stopsAtTheFirstThatDoesNotFit() throws {
        let fixture = SnapshotFixture()
        let writer = try SnapshotWriter(path: fixture.path, tool: "test", now: Exchange.began)
        let recorder = try SnapshotRecorder(writer, key: SnapshotFixture.key)
        let recording = try recorder.begin(Exchange("http://a:80/").request)
        let long = String(repeating: "ab ", count: SnapshotLimits.earlyHintsLength / 3) + "d"
        for value in ["</a.css>", long, "</b.js>"] { recording.earlyHints(Exchange.fields([("Link", value)])) }
        recording.head(status: Status(200), reason: [], fields: Fields())
        try recording.finish(times: RecordedTimes(started: Exchange.began))
        _ = try recorder.finish()
        let hints = try #require(Snapshot(path: fixture.path).recording(at: 0).response?.earlyHints)
        #expect(hints.map(\.bytes.text) == ["Link</a.css>"])
    }
}
