import Glibc
import HTTPMessage
import Snapshots

/// How quick a snapshot is, with so many recordings of so many bytes each.
enum SnapshotMeasure {
    static func run(_ folder: String, count: Int, length: Int) throws {
        let path = folder + "/measure-\(getpid()).larder"
        let otherPath = folder + "/measure-\(getpid())-other.larder"
        defer {
            unlink(path)
            unlink(otherPath)
        }
        let octets = Double(count * length) / 1e6
        say("create", try time { try create(path, count: count) { _ in length } }, octets)
        // One in a hundred answers is another.
        try create(otherPath, count: count) { $0 % 100 == 0 ? length + 1 : length }
        var snapshot: Snapshot?
        say("open", try time { snapshot = try Snapshot(path: path) })
        guard let snapshot else { return }
        let layer = try SnapshotLayer(snapshot, key: nil)
        var cursors = SequenceCursors()
        func request(_ number: Int) -> RequestToMatch {
            let uri = "http://h\(number % 97).example:80/things/\(number)/of/some/length?page=\(number % 7)"
            return RequestToMatch(method: Array("GET".utf8), uri: Array(uri.utf8), fields: Fields())
        }
        say("first answer", try time { _ = try layer.find(request(count / 2), &cursors) })
        let asked = min(count, 10_000)
        let answers = try time {
            for number in 0..<asked { _ = try layer.find(request(number), &cursors) }
        }
        SnapshotTorture.line("an answer: \(answers / Double(asked) * 1e6) µs")
        var search: NearMissSearch?
        say("near-miss table", try time { search = try NearMissSearch(snapshot, key: nil) })
        let uri = Array("http://h7.example:80/things/4242/of/some/length?page=999".utf8)
        let missed = RequestToMatch(method: Array("GET".utf8), uri: uri, fields: Fields())
        say("near miss", try time { _ = try search?.nearest(to: missed) })
        say("verify", try time { _ = try snapshot.verify() }, octets)
        let other = try Snapshot(path: otherPath)
        say("diff", try time { _ = try SnapshotDiff(from: snapshot, to: other) })
    }

    private static func create(_ path: String, count: Int, length: (Int) -> Int) throws {
        let writer = try SnapshotWriter(path: path, tool: "measure", now: SnapshotTorture.now)
        let recorder = try SnapshotRecorder(writer, key: SnapshotTorture.key())
        for number in 0..<count { try SnapshotTorture.record(recorder, number, length: length(number)) }
        _ = try writer.finish()
    }

    /// In seconds.
    private static func time(_ work: () throws -> Void) rethrows -> Double {
        let began = ContinuousClock.now
        try work()
        let duration = ContinuousClock.now - began
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    private static func say(_ name: String, _ seconds: Double, _ megabytes: Double? = nil) {
        let speed = megabytes.map { ", \(Int($0 / seconds)) MB/s" } ?? ""
        SnapshotTorture.line("\(name): \((seconds * 100_000).rounded() / 100) ms\(speed)")
    }
}
