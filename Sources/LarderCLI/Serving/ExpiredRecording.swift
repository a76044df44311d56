import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ProxyPolicy
import Snapshots

/// A recording that is too old to be replayed.
struct ExpiredRecording: Equatable, Sendable, CustomStringConvertible {
    let path: String
    /// The time of the recording, and its lifetime, as text for people.
    let description: String

    /// The message if this recording is re-recorded instead of replayed.
    var refreshing: String {
        "\(description): every request is forwarded, and the snapshot is re-recorded (replay.on_expired: refresh)"
    }

    /// Why this recording cannot be re-recorded with these settings, which would replay it; `nil` if re-recording is possible.
    func hindrance(in settings: LarderSettings) -> String? {
        let recordings = settings.recordings
        if recordings.files.count > 1 { return "`replay.layers` lists more than one snapshot" }
        if recordings.asOf != .newest { return "replay.as_of selects an older generation" }
        if !recordings.signedBy.isEmpty {
            return "replay.signed_by requires a signature, and re-recording removes the signature"
        }
        return Self.hindranceOfFile(path)
    }

    /// The new recording is written next to the file and then replaces it.
    private static func hindranceOfFile(_ path: String) -> String? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return String(cString: strerror(errno)) }
        // Root could still write to a read-only file, but should not.
        if facts.st_mode & 0o222 == 0 { return "the file is read-only" }
        for place in [path, URL(filePath: path).deletingLastPathComponent().path] where access(place, W_OK) != 0 {
            return "\(place): \(String(cString: strerror(errno)))"
        }
        return nil
    }
}

extension LarderSettings.Recordings {
    /// The snapshots that were recorded longer ago than `expiresAfter`. An unreadable file is reported when it is replayed.
    func expiredLayers(at now: Timestamp) -> [ExpiredRecording] {
        guard let limit = expiresAfter else { return [] }
        return files.compactMap { path in
            // An unreadable file is skipped here, and is reported when it is replayed.
            guard let recorded = (try? Snapshot(path: path))?.manifest.lastRecorded else { return nil }
            let age = now.milliseconds - recorded.milliseconds
            guard age > limit.wholeMilliseconds else { return nil }
            let lifetime = SettingsQuantity.text(ofMilliseconds: limit.wholeMilliseconds)
            return ExpiredRecording(
                path: path,
                description: "\(path) was recorded at \(recorded.rfc3339), and expired \(lifetime) later (replay.expires_after)")
        }
    }
}

extension LarderSettings {
    /// Warnings about expired recordings that are replayed. With `replay.on_expired: refresh`, Larder re-records them in mode `replay`,
    /// so it warns only in other modes that replay them.
    var replayWarnings: [String] {
        guard replays, recordings.onExpired != .fail else { return [] }
        return recordings.expiredLayers(at: .now).map(\.description)
    }
}

extension ServedSettings {
    /// Returns the settings with the expired recording handled. If a recording to replay has expired and `replay.on_expired` is
    /// `refresh`, the settings get mode `refresh` on that file. Otherwise they stay unchanged.
    ///
    /// Evaluated when settings become active: a recording that expires during a replay is still replayed.
    /// - Throws: why the recording cannot be re-recorded.
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
    /// The start of the snapshot's newest generation.
    var lastRecorded: Timestamp { generations.last?.started ?? created }
}
