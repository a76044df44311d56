import ProxyServer
import Recordings
import Snapshots
import TextCoding

/// The summary of a recording run, for people.
struct RecordSummary {
    let file: RecordingFile
    let result: Result<SnapshotRoots?, SnapshotError>
    let tally: RequestTally?

    private static let toldLimit = 10

    /// Whether the file exists, and no write failed.
    var isWritten: Bool { if case .success = result { file.summary.failure == nil } else { false } }
    /// Whether all requests are recorded.
    var isComplete: Bool {
        file.summary.isComplete && file.summary.tunnels.isEmpty && (tally?.deniedCount ?? 0) == 0
            && (tally?.rejectedCount ?? 0) == 0
            && tally?.sawRejection != true
    }

    func text(remarks: [String]) -> String {
        let summary = file.summary
        var lines = [countsLine(summary.counts)]
        lines += summary.tunnels.prefix(Self.toldLimit).map { "  not recorded, because the request opened a tunnel: \($0)" }
        lines += summary.unrecorded.prefix(Self.toldLimit).map { "  not recorded (\($0.reason)): \($0.url)" }
        let denied = tally?.deniedCount ?? 0
        if denied > 0 { lines[0] += ", \(denied) denied" }
        lines += (tally?.refusals ?? []).prefix(Self.toldLimit).map {
            "  not recorded, because the request was denied (\($0.reason)): \($0.request)"
        }
        let rejected = tally?.rejectedCount ?? 0
        lines += (tally?.rejections ?? []).prefix(Self.toldLimit).map {
            "  not recorded, because Larder did not accept the request \($0.rejection)"
        }
        let others = [denied, rejected, summary.tunnels.count, summary.unrecordedCount].reduce(0) {
            $0 + max(0, $1 - Self.toldLimit)
        }
        if others > 0 { lines.append("  and \(others) more not recorded") }
        if case .failure(let error) = result {
            lines.append("the recording is incomplete: \(summary.failure ?? "\(error)")")
            lines.append("\(file.path) was not created; \(file.path).partial contains the exchanges recorded so far")
        } else if let failure = summary.failure {
            lines.append("the recording is incomplete: \(failure)")
        }
        if let remark = tally?.untrustedRemark { lines.append(remark) }
        lines += matchWarnings
        return (lines + remarks).map { "larder: \(printable($0, limit: 4096))\n" }.joined()
    }

    /// Warnings about requests for which replay could return a different response.
    private var matchWarnings: [String] {
        // An unreadable recording is reported when it is replayed.
        guard isWritten, let warnings = try? Snapshot(path: file.path).matchWarnings() else { return [] }
        return warnings.map { "warning: \($0.text)" }
    }

    private func countsLine(_ counts: RecordingSummary.Counts) -> String {
        var line = "\(counts.recorded) recorded in \(file.path)"
        if counts.unchanged > 0 { line += ", \(counts.unchanged) unchanged" }
        if counts.failures > 0 { line += ", \(counts.failures) of them failures" }
        if counts.unshared > 0 { line += ", \(counts.unshared) that a shared cache may not store" }
        return line
    }
}
