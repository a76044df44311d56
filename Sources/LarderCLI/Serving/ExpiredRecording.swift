import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ProxyPolicy
import Snapshots

/// A recording that is older than it may be replayed.
struct ExpiredRecording: Equatable, Sendable, CustomStringConvertible {
    let path: String
    /// When it was recorded, and for how long that holds, in words for people.
    let description: String

    /// What is told of it where it is recorded anew in place of being replayed.
    var refreshing: String {
        "\(description): every request is forwarded, and the snapshot is re-recorded (replay.on_expired: refresh)"
    }

    /// Why it cannot be recorded anew, in these settings, which have it replayed.
    func hindrance(in settings: LarderSettings) -> String? {
        let recordings = settings.recordings
        if recordings.files.count > 1 { return "`replay.layers` lists more than one snapshot" }
        if recordings.asOf != .newest { return "replay.as_of selects an older generation" }
        if !recordings.signedBy.isEmpty {
            return "replay.signed_by requires a signature, and re-recording removes it"
        }
        return Self.hindranceOfFile(path)
    }

    /// It takes the place of the file, and is written beside it before.
    private static func hindranceOfFile(_ path: String) -> String? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return String(cString: strerror(errno)) }
        // The superuser may write to it nevertheless, and is not meant to.
        if facts.st_mode & 0o222 == 0 { return "it is read-only" }
        for place in [path, URL(filePath: path).deletingLastPathComponent().path] where access(place, W_OK) != 0 {
            return "\(place): \(String(cString: strerror(errno)))"
        }
        return nil
    }
}

extension LarderSettings.Recordings {
    /// The layers that were recorded longer ago than they may be replayed. A file that cannot be read is told of by who replays it.
    func expiredLayers(at now: Timestamp) -> [ExpiredRecording] {
        guard let limit = expiresAfter else { return [] }
        return files.compactMap { path in
            // Unreadable, as said.
            guard let recorded = (try? Snapshot(path: path))?.manifest.lastRecorded else { return nil }
            let age = now.milliseconds - recorded.milliseconds
            guard age > limit.wholeMilliseconds else { return nil }
            let lifetime = SettingsQuantity.text(ofMilliseconds: limit.wholeMilliseconds)
            return ExpiredRecording(
                path: path,
                description: "\(path) was recorded at \(recorded.rfc3339), and expires after \(lifetime) (replay.expires_after)")
        }
    }
}

extension LarderSettings {
    /// What a person should know of what is replayed. Where a rule replays, or what is missing goes out, `refresh` is a warning.
    var replayWarnings: [String] {
        guard replays, recordings.onExpired != .fail else { return [] }
        return recordings.expiredLayers(at: .now).map(\.description)
    }
}

extension ServedSettings {
    /// These, or where what is to be replayed has expired and somebody has said `replay.on_expired: refresh`, these with mode `refresh` on that file.
    ///
    /// Looked at when settings come into force: what expires while it is replayed is replayed on.
    /// - Throws: why it cannot be recorded anew.
    func refreshingExpired() throws(RunningRecordings.Refusal) -> ServedSettings {
        var served = self
        served.refreshed = nil
        let settings = served.settings
        guard settings.mode == .replay, settings.recordings.onExpired == .refresh,
            let expired = settings.recordings.expiredLayers(at: .now).first
        else { return served }
        if let hindrance = expired.hindrance(in: settings) {
            throw RunningRecordings.Refusal(
                reason: "replay.on_expired: \(expired), and cannot be re-recorded: \(hindrance)")
        }
        served.refreshed = expired
        if let problem = SettingsConsistency.modeProblem(in: served.settings) {
            throw RunningRecordings.Refusal(reason: "replay.on_expired: \(expired), and cannot be re-recorded: \(problem)")
        }
        return served
    }
}

extension Manifest {
    /// When its newest generation was begun.
    var lastRecorded: Timestamp { generations.last?.started ?? created }
}

extension Timestamp {
    fileprivate static var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}
