import CommandEnvironment
import LarderSettings
import ProxyServer
import Recordings
import Snapshots

/// A run whose answers are looked at: every request goes out and is recorded, into a file that goes with the run.
struct ObservedRun {
    /// What a run was answered.
    struct Answers {
        let lock: LockFile
        /// What was asked for and is not there whole, each in words: tunnels, exchanges that failed or could not be recorded.
        let gaps: [String]
        /// Secrets were put out. Without the project's key, what stands in their place is another one each time.
        let holdsSecrets: Bool
    }

    private let path: String

    init(in folder: PrivateFolder) { path = "\(folder.path)/run.larder" }

    /// What is stored is no answer of the origin's, and what the settings say of recordings is not for this one.
    /// - Parameter key: the project's; `nil`: the one that the settings name.
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
        if untold > 0 { gaps.append("and \(untold) more") }
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
