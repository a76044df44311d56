import ProxyServer
import Recordings
import Snapshots
import TextCoding

/// The summary of a replay, for people.
struct ReplaySummary {
    let tally: RequestTally
    let layers: ReplaySources
    let remarks: [String]

    private static let unusedLimit = 1000

    var text: String {
        let unused = unusedPlaces.reduce(0) { $0 + $1.count }
        var lines = ["\(tally.replayedCount) replayed, \(tally.missedCount) missed, \(unused) not requested"]
        lines[0] += tally.failureCounts
        if tally.deniedCount > 0 { lines[0] += ", \(tally.deniedCount) denied" }
        for refusal in tally.refusals {
            lines.append("  \(refusal.reason == RequestTally.missWord ? "missed" : refusal.reason): \(refusal.request)")
            if let nearest = refusal.nearest { lines.append("    nearest: \(nearest)") }
        }
        let others = tally.deniedCount + tally.missedCount - tally.refusals.count
        if others > 0 { lines.append("  and \(others) more denied or missed requests") }
        return Self.said(lines + tally.failureLines + remarks)
    }

    /// The recordings that no request used, one per line.
    var unusedText: String {
        var lines: [String] = []
        for (path, places) in zip(layers.terms.files, unusedPlaces) where !places.isEmpty {
            guard let snapshot = try? Snapshot(path: path) else { continue }  // the replay had the file open until now
            for place in places.prefix(Self.unusedLimit - lines.count) {
                // `larder snapshot verify` reports damaged recordings.
                guard let request = try? snapshot.recording(at: place).request else { continue }
                let method = String(decoding: request.method, as: UTF8.self)
                lines.append("  not requested: \(method) \(String(decoding: request.uri, as: UTF8.self))")
            }
        }
        return Self.said(lines)
    }

    /// The indices of the unused recordings in each file.
    private var unusedPlaces: [[Int]] {
        zip(layers.counts, layers.usedPlaces).map { count, used in (0..<count).filter { !used.contains($0) } }
    }

    private static func said(_ lines: [String]) -> String { lines.map { "larder: \(printable($0, limit: 4096))\n" }.joined() }
}
