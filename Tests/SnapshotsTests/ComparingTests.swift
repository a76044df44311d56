import Foundation
import HTTPMessage
import Testing
@testable import Snapshots

@Suite("Comparing snapshots")
struct ComparingTests {
    static func write(_ exchanges: [Exchange]) throws -> SnapshotFixture {
        let fixture = SnapshotFixture()
        try fixture.write(exchanges)
        return fixture
    }

    @Test("A difference lists the aspects in which a response changed")
    func tellsDifferences() throws {
        var changed = Exchange("http://a:80/2", "new")
        changed.status = 404
        changed.fields.append(("X-New", "1"))
        let old = try Self.write([
            Exchange("http://a:80/1", "same"), Exchange("http://a:80/2", "old"), Exchange("http://a:80/3", "gone"),
        ])
        let new = try Self.write([Exchange("http://a:80/1", "same"), changed, Exchange("http://a:80/4", "come")])
        let (one, other) = (try Snapshot(path: old.path), try Snapshot(path: new.path))
        #expect(
            try SnapshotDiff(from: one, to: other).entries.map(\.text) == [
                "~ GET http://a:80/2  (status, fields: x-new, body)", "- GET http://a:80/3", "+ GET http://a:80/4",
            ])
        #expect(try SnapshotDiff(from: one, to: one).entries.isEmpty)
    }

    @Test("A different 103 counts as a difference of fields; merging and collecting keep 103s")
    func comparesEarlyHints() throws {
        var hinted = Exchange("http://a:80/1", "one")
        hinted.earlyHints = [[("Link", "</a.css>; rel=preload")], [("Link", "</b.js>")]]
        let (old, new) = (try Self.write([Exchange("http://a:80/1", "one")]), try Self.write([hinted]))
        let (one, other) = (try Snapshot(path: old.path), try Snapshot(path: new.path))
        #expect(one.roots.content != other.roots.content)
        #expect(try SnapshotDiff(from: one, to: other).entries.map(\.text) == ["~ GET http://a:80/1  (fields: link)"])
        let merged = SnapshotFixture()
        _ = try SnapshotMaintenance.merge([old.path, new.path], to: merged.path, tool: "test", now: Exchange.began)
        #expect(try SnapshotMaintenance.collect(merged.path) == 1)
        let snapshot = try Snapshot(path: merged.path)
        _ = try snapshot.verify()
        let hints = try #require(snapshot.recording(at: 0).response?.earlyHints)
        #expect(hints.map(\.bytes.text) == ["Link</a.css>; rel=preload", "Link</b.js>"])
    }

    @Test("Moving a field between head, trailers and a 103 is a difference, as is reordering 103s")
    func comparesEachPart() throws {
        let (one, other) = (("Link", "</a.css>"), ("Link", "</b.js>"))
        let exchange = Exchange("http://a:80/1", "one")
        var (inHead, inTrailers, hinted, swapped) = (exchange, exchange, exchange, exchange)
        inHead.fields.append(one)
        inTrailers.trailers = [one]
        hinted.earlyHints = [[one], [other]]
        swapped.earlyHints = [[other], [one]]
        var hintedOnce = exchange
        hintedOnce.earlyHints = [[one]]
        for (old, new) in [(inHead, inTrailers), (hintedOnce, inHead), (inTrailers, hintedOnce), (hinted, swapped)] {
            let (before, after) = (try Self.write([old]), try Self.write([new]))
            let entries = try SnapshotDiff(from: Snapshot(path: before.path), to: Snapshot(path: after.path)).entries
            #expect(entries.map(\.text) == ["~ GET http://a:80/1  (fields: link)"])
        }
    }

    /// An exchange with a secret in its response, and these additional lines.
    private static func withSecret(
        _ secret: String, hint: String, trailer: String
    ) -> Exchange {
        var exchange = Exchange("http://a:80/1", "one")
        exchange.fields.append(("X-Api-Key", secret))
        exchange.earlyHints = [[("Link", hint), ("X-Api-Key", secret)]]
        exchange.trailers = [("X-Check", trailer), ("X-Api-Key", secret)]
        return exchange
    }

    @Test(
        "Without the key, a comparison notices a different 103 or trailer, but not a different secret",
        arguments: [
            ("</a.css>", "1", "unchanged"), ("</b.js>", "1", "fields: link"), ("</a.css>", "2", "fields: x-check"),
        ])
    func comparesWithoutKey(hint: String, trailer: String, difference: String) throws {
        func record(_ exchange: Exchange, with recorder: SnapshotRecorder) throws -> RecordingOutcome {
            let recording = try recorder.begin(exchange.request)
            for hints in exchange.earlyHints { recording.earlyHints(Exchange.fields(hints)) }
            recording.head(status: Status(exchange.status), reason: [], fields: Exchange.fields(exchange.fields))
            try recording.append(exchange.body.span)
            return try recording.finish(
                times: RecordedTimes(started: exchange.started), trailers: Exchange.fields(exchange.trailers))
        }
        let fixture = SnapshotFixture()
        let writer = try SnapshotWriter(path: fixture.path, tool: "test", now: Exchange.began)
        let recorder = try SnapshotRecorder(writer, key: SnapshotFixture.key)
        _ = try record(Self.withSecret("q7Zp-81xLm-44", hint: "</a.css>", trailer: "1"), with: recorder)
        _ = try recorder.finish()
        let former = try RecordedAnswers([fixture.path], key: nil)
        let outcome = try record(
            Self.withSecret("q7Zp-81xLm-45", hint: hint, trailer: trailer),
            with: try SnapshotRecorder(comparing: former, key: SnapshotFixture.key))
        switch outcome {
        case .recorded: Issue.record("nothing is recorded")
        case .unchanged: #expect(difference == "unchanged")
        case .differs(let entry): #expect(entry.text == "~ GET http://a:80/1  (\(difference))")
        }
    }

    @Test("A merged snapshot answers from the last source with a recording, and keeps older responses")
    func merges() throws {
        let one = try Self.write([Exchange("http://a:80/1", "one"), Exchange("http://a:80/2", "two")])
        let other = try Self.write([Exchange("http://a:80/2", "newer"), Exchange("http://a:80/3", "three")])
        let merged = SnapshotFixture()
        _ = try SnapshotMaintenance.merge([one.path, other.path], to: merged.path, tool: "test", now: Exchange.began)
        let snapshot = try Snapshot(path: merged.path)
        _ = try snapshot.verify()
        let layer = try SnapshotLayer(snapshot, key: nil)
        #expect(try (1...3).map { try MatchingTests.answer(layer, Exchange("http://a:80/\($0)")) } == ["one", "newer", "three"])
        let first = try SnapshotLayer(snapshot, key: nil, asOf: .generation(1))
        #expect(try MatchingTests.answer(first, Exchange("http://a:80/2")) == "two")
    }

    @Test("`snapshot gc` removes replaced recordings and keeps the content root")
    func collects() throws {
        let fixture = try Self.write([Exchange("http://a:80/1", "old"), Exchange("http://a:80/2", "two")])
        let roots = try fixture.write([Exchange("http://a:80/1", "new")], existing: .append)
        #expect(try SnapshotMaintenance.collect(fixture.path) == 1)
        let snapshot = try Snapshot(path: fixture.path)
        #expect(snapshot.roots.content == roots.content)
        #expect(try snapshot.verify() == SnapshotVerification(recordings: 2, bodies: 2, bodyOctets: 6))
    }

    @Test("A lock file records each response's digest, and reports added, changed and missing responses of a run")
    func locks() throws {
        let old = try Self.write([
            Exchange("http://a:80/2", "two"), Exchange("http://a:80/1", "one"), Exchange("http://a:80/1", "again"),
        ])
        let lock = try LockFile(of: Snapshot(path: old.path))
        #expect(
            lock.text.split(separator: "\n").map { String($0.prefix(40)) } == [
                "larder-lock 1", "GET http://a:80/1 200 sha256:7692c3ad354", "GET http://a:80/1 200 sha256:b4c9e14061c",
                "GET http://a:80/2 200 sha256:3fc4ccfe745",
            ])
        #expect(try LockFile(parsing: lock.text) == lock)
        let new = try Self.write([
            Exchange("http://a:80/1", "one"), Exchange("http://a:80/2", "changed"), Exchange("http://a:80/3", "new"),
        ])
        let violations = try lock.violations(by: LockFile(of: Snapshot(path: new.path)))
        #expect(violations.map(\.text.first) == ["-", "+", "-"])
        #expect(violations.map { "\($0)".prefix(7) } == ["changed", "added(S", "missing"])
        #expect(lock.violations(by: lock).isEmpty)
        #expect(try lock.violations(by: LockFile(of: Snapshot(path: new.path)), isWhole: false).count == 2)
    }

    @Test(
        "A malformed line in a lock file is reported with its line and column",
        arguments: [
            ("", 1, 1, "not a lock"), ("larder-lock 2\n", 1, 1, "not a lock"),
            ("larder-lock 1\nGET x\n", 2, 6, "expected a status code"),
            ("larder-lock 1\n\nGET x 2000 - 0\n", 3, 7, "expected a status code"),
            ("larder-lock 1\nGET x 200 sha256:12 0\n", 2, 11, "expected `sha256:`"),
            ("larder-lock 1\nGET x 200 - -1\n", 2, 13, "expected a length"),
            ("larder-lock 1\nGET x 200 - 0 1\n", 2, 15, "expected `#`"),
            ("larder-lock 1\nGET x 200 - 0 #1 2\n", 2, 18, "expected the end of the line"),
        ] as [(String, Int, Int, String)])
    func tellsThePlace(text: String, line: Int, column: Int, words: String) {
        do throws(LockFile.Fault) {
            _ = try LockFile(parsing: text)
            Issue.record("it was read")
        } catch {
            #expect(error.line == line && error.column == column && error.reason.hasPrefix(words), "\(error)")
        }
    }
}
