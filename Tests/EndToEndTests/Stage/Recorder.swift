import Foundation
import HTTPMessage
import ProxyServer
import Recordings
import SecretScanning
import Snapshots
import TestSupport

/// Recordings of the tests: one proxy makes them, another one replays them.
enum Recorder {
    static let key = ProjectKey(octets: [UInt8](repeating: 7, count: 32))

    static func file(
        _ path: String, change: (inout RecordingFile.Terms) -> Void = { _ in }
    ) throws -> RecordingFile {
        guard let key else { throw SnapshotError.unusableKey("too short") }
        var terms = RecordingFile.Terms(path: path, key: key, tool: "test", now: Timestamp(seconds: 1_795_415_000))
        change(&terms)
        return try RecordingFile(terms)
    }

    /// Finishes a recording and waits until it is done.
    static func finish(_ file: RecordingFile) throws {
        let (ended, result) = (Gate(), Counter())
        file.finish { outcome in
            if case .success = outcome { result.next() }
            ended.open()
        }
        if !ended.wait() || result.value == 0 { throw SnapshotError.malformed("the recording was not finished") }
    }

    static func layers(
        _ paths: [String], change: (inout ReplaySources.Terms) -> Void = { _ in }
    ) throws -> ReplaySources {
        var terms = ReplaySources.Terms()
        terms.files = paths
        terms.key = key
        change(&terms)
        return try ReplaySources(terms)
    }
}
