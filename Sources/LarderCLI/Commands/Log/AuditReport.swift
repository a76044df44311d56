import AuditLog
import TextCoding

/// The result of `larder log verify`, as text and as JSON.
struct AuditReport {
    let path: String
    let scan: AuditScan
    let isStrict: Bool

    var isGood: Bool {
        scan.problemCount == 0 && (!isStrict || (scan.unsealedCount == 0 && scan.doubtful.isEmpty && scan.newestSeal != nil))
    }

    var text: String {
        var lines: [String] = []
        for problem in scan.problems { lines.append("\(problem.file):\(problem.line): \(problem.reason)") }
        if scan.problemCount > scan.problems.count {
            lines.append("and \(scan.problemCount - scan.problems.count) further problems")
        }
        if scan.first > 1 { lines.append("the log begins with line \(scan.first): earlier files are missing") }
        for range in scan.doubtful {
            let subject =
                range.count == 1 ? "line \(range.lowerBound) is" : "lines \(range.lowerBound) to \(range.upperBound) are"
            lines.append("\(subject) unverified: Larder stopped before it wrote a seal after them")
        }
        if scan.unsealedCount > 0 {
            lines.append("lines \(scan.last - scan.unsealedCount + 1) to \(scan.last) are not sealed yet")
        }
        let seal = scan.newestSeal.map { "complete up to seal \($0.number) of \(scan.newestSealTime)" } ?? "not sealed"
        let later =
            scan.foundWanted ? "the given seal is in the log" : "without --seal, lines missing at the end are not detected"
        let extent =
            "\(scan.lineCount) line\(scan.lineCount == 1 ? "" : "s") in \(scan.fileCount) file\(scan.fileCount == 1 ? "" : "s")"
        lines.append(
            scan.problemCount == 0
                ? "\(path): \(extent), \(seal); \(later)"
                : "\(path): \(extent), damaged: \(scan.problemCount) problem\(scan.problemCount == 1 ? "" : "s")")
        return lines.map { printable($0, limit: 8192) + "\n" }.joined()
    }

    var json: JSONText {
        .object([
            ("good", .bool(isGood)), ("path", .string(path)), ("files", .number(scan.fileCount)),
            ("lines", .number(scan.lineCount)),
            ("first", .count(scan.first)), ("last", .count(scan.last)),
            ("seal", scan.newestSeal.map { .string("\($0)") } ?? .null), ("seal_time", .string(scan.newestSealTime)),
            ("unsealed", .count(scan.unsealedCount)), ("found_seal", .bool(scan.foundWanted)),
            (
                "doubtful",
                .array(scan.doubtful.map { .object([("first", .count($0.lowerBound)), ("last", .count($0.upperBound))]) })
            ),
            (
                "problems",
                .array(
                    scan.problems.map {
                        .object([("file", .string($0.file)), ("line", .number($0.line)), ("reason", .string($0.reason))])
                    })
            ),
            ("problem_count", .number(scan.problemCount)),
        ])
    }
}
