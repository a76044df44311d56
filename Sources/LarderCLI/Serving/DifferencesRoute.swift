import HTTPMessage
import ProxyAdmin
import ProxyServer
import Recordings
import Snapshots
import TextCoding

/// `GET /v1/mode/differences`: how responses have differed from the recordings so far in mode `diff`.
enum DifferencesRoute {
    /// - Parameter comparison: the current comparison, else the last one; `nil` if there was none.
    static func route(_ comparison: @escaping @Sendable () -> RecordingFile?) -> AdminRoute {
        AdminRoute(.get, "/v1/mode/differences", .read) { request, exchange in
            guard let file = comparison() else {
                return exchange.refuse(
                    Status(404), code: "nothing_compared", detail: "no responses have been compared yet: run `larder mode diff`")
            }
            let wantsText = request.wantsText
            // The report includes all responses received up to now.
            let reply = exchange.loop.reply { (_: Void) in
                let summary = file.summary
                wantsText ? exchange.answer(text: text(summary)) : exchange.answer(json: json(summary))
            }
            file.whenCaughtUp { reply.send(()) }
        }
    }

    private static func text(_ summary: RecordingSummary) -> String {
        let counts = summary.counts
        var lines = summary.differences.map { printable($0.text, limit: 8192) }
        if counts.differing > lines.count { lines.append("and \(counts.differing - lines.count) more different responses") }
        if summary.unrecordedCount > 0 { lines.append("responses not compared: \(summary.unrecordedCount)") }
        lines.append("responses compared: \(counts.unchanged + counts.differing), different: \(counts.differing)")
        return lines.map { $0 + "\n" }.joined()
    }

    private static func json(_ summary: RecordingSummary) -> JSONText {
        let counts = summary.counts
        return .object([
            ("compared", .number(counts.unchanged + counts.differing)), ("differing", .number(counts.differing)),
            ("not_compared", .number(summary.unrecordedCount)),
            ("differences", .array(summary.differences.map(json))),
        ])
    }

    private static func json(_ entry: SnapshotDiff.Entry) -> JSONText {
        .object([
            ("kind", .string(entry.kind.rawValue)), ("method", .string(String(decoding: entry.method, as: UTF8.self))),
            ("url", .string(String(decoding: entry.uri, as: UTF8.self))),
            ("aspects", .array(entry.aspects.words.map(JSONText.string))),
            ("fields", .array(entry.fieldNames.map(JSONText.string))),
        ])
    }
}
