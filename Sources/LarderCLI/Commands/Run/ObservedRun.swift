import CommandEnvironment
import LarderSettings
import ProxyServer
import Recordings
import Snapshots

/// A run whose responses are observed: every request is forwarded and recorded, into a temporary file.
struct ObservedRun {
    /// The responses of a run.
    struct Answers {
        let lock: LockFile
        /// Descriptions of requests without a complete recording: tunnels, exchanges that failed or could not be recorded.
        let gaps: [String]
        /// Whether secrets were redacted. Without the project's key, their placeholders differ each time.
        let holdsSecrets: Bool
    }

    private let path: String

    init(in folder: PrivateFolder) { path = "\(folder.path)/run.larder" }

    /// Disables the store, so that every response comes from the origin, and overrides the settings for recordings.
    /// - Parameter key: the project's key; `nil`: the key in the settings.
    func set(_ terms: inout EphemeralProxy.Terms, by flag: String, key: String?) {
        terms.store = ":memory:"
        terms.mode = .record
        terms.settings += [
            (flag, "record.file", .plain(path)), (flag, "record.existing", .plain(LarderSettings.Existing.refuse.rawValue)),
            (flag, "record.no_store", .plain(LarderSettings.NoStore.keep.rawValue)),
        ]
        if let key { terms.settings.append(("--key", "recordings.key", .plain(key))) }
    }

    func answers(_ ended: (file: RecordingFile, result: Result<SnapshotRoots?, SnapshotError>)) throws(SnapshotError) -> Answers {
        _ = try ended.result.get()
        let snapshot = try Snapshot(path: path)
        let summary = ended.file.summary
        var gaps = summary.tunnels.map { "\($0): a tunnel" } + summary.unrecorded.map { "\($0.url): \($0.reason)" }
        let untold = summary.unrecordedCount - summary.unrecorded.count
        if untold > 0 { gaps.append("and \(untold) more responses") }
        var holdsSecrets = false
        for place in 0..<snapshot.count {
            let recording = try snapshot.recording(at: place)
            if recording.isRedacted { holdsSecrets = true }
            if let failure = recording.failure {
                gaps.append("\(String(decoding: recording.request.uri, as: UTF8.self)): \(failure.kind.word)")
            }
        }
        if let failure = summary.failure { gaps.append(failure) }
        return Answers(lock: try LockFile(of: snapshot), gaps: gaps, holdsSecrets: holdsSecrets)
    }
}
