import ProxyServer
import Recordings
import Snapshots
import TextCoding

/// Ends the recording of a running server.
extension RunningServer {
    /// Finishes the current recording.
    func finishRecording() {
        guard let (file, result) = recordings.finish() else { return }
        note(result, file)
    }

    func note(_ result: Result<SnapshotRoots?, SnapshotError>, _ file: RecordingFile) {
        let path = printable(file.path, limit: 4096)
        let summary = file.summary
        switch result {
        case .success(nil) where summary.counts.unchanged + summary.counts.differing == 0:
            log.logger.notice("no response could be compared with \(path)")
        case .success(nil):
            log.logger.notice(
                "responses compared: \(summary.counts.unchanged + summary.counts.differing), different: \(summary.counts.differing)"
            )
        case .success: log.logger.notice("\(path): \(summary.counts.recorded) recorded")
        case .failure(let error):
            log.logger.error("cannot finish \(path); \(path).partial contains the exchanges recorded so far: \(error)")
        }
        if summary.unrecordedCount > 0 { log.logger.warning("\(path): \(summary.unrecordedCount) not recorded") }
        if let failure = summary.failure { log.logger.error("\(path) is incomplete: \(printable(failure, limit: 4096))") }
    }
}
