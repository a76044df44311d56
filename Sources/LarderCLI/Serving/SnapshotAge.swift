import Foundation
import HTTPMessage
import ProxyAdmin
import Snapshots

extension LarderSettings.Recordings {
    /// Which of the layers were recorded longer ago than they may be replayed, in words for people. A file that cannot be read is told of by who
    /// replays it.
    func expiredLayers(at now: Timestamp) -> [String] {
        guard let limit = expiresAfter else { return [] }
        return files.compactMap { path in
            // Unreadable, as said.
            guard let recorded = (try? Snapshot(path: path))?.manifest.lastRecorded else { return nil }
            let age = now.milliseconds - recorded.milliseconds
            guard age > limit.wholeMilliseconds else { return nil }
            return "\(path) was recorded at \(recorded.rfc3339), and holds for \(limit) (replay.expires_after)"
        }
    }

}

extension LarderSettings {
    /// What a person should know of what is replayed.
    var replayWarnings: [String] {
        guard replays, recordings.onExpired == .warn else { return [] }
        return recordings.expiredLayers(at: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
    }
}

extension Manifest {
    /// When its newest generation was begun.
    var lastRecorded: Timestamp { generations.last?.started ?? created }
}
