import ProxyServer
import TextCoding

/// What report mode and the shadow policy have found, for `GET /v1/status`.
struct PolicyStatus {
    let report: PolicyReport
    let reportsDenials: Bool
    let hasShadow: Bool

    init(of server: ProxyServer) {
        report = server.policyReport
        reportsDenials = server.reportsDenials
        hasShadow = server.hasShadow
    }

    // MARK: JSON

    var json: JSONText {
        .object([
            ("enforce", .string(reportsDenials ? "report" : "deny")), ("would_deny", .count(report.denials.total)),
            ("would_deny_omitted", .count(report.denials.omitted)),
            ("denials", .array(report.denials.items.map { Self.json($0.value, $0.count) })), ("shadow", .bool(hasShadow)),
            ("differing", .count(report.differences.total)), ("differing_omitted", .count(report.differences.omitted)),
            ("differences", .array(report.differences.items.map { Self.json($0.value, $0.count) })),
        ])
    }

    private static func json(_ denial: PolicyReport.Denial, _ count: UInt64) -> JSONText {
        .object([
            ("method", .string(denial.target.method)), ("url", .string(denial.target.url)), ("count", .count(count)),
            ("code", .string("\(denial.word.text)")), ("rule", denial.rule.isEmpty ? .null : .string(denial.rule)),
            ("suggestion", denial.suggestion.isEmpty ? .null : .string(denial.suggestion)),
        ])
    }

    private static func json(_ difference: PolicyReport.Difference, _ count: UInt64) -> JSONText {
        .object([
            ("method", .string(difference.target.method)), ("url", .string(difference.target.url)), ("count", .count(count)),
            ("active", .string("\(difference.active.text)")), ("shadow", .string("\(difference.shadow.text)")),
            ("rule", difference.rule.isEmpty ? .null : .string(difference.rule)),
        ])
    }

    // MARK: Text

    /// The maximum number of requests that the text lists.
    private static let toldLimit = 20

    var lines: [(String, String)] {
        var lines: [(String, String)] = []
        if reportsDenials {
            lines.append(("enforce", "report: forwarded requests that would be denied: \(report.denials.total)"))
        }
        for (denial, count) in report.denials.items.prefix(Self.toldLimit) {
            let reason = denial.rule.isEmpty ? "\(denial.word.text)" : "rule \(denial.rule)"
            let suggestion = denial.suggestion.isEmpty ? "" : "; allowed by \(denial.suggestion)"
            lines.append(("would deny", "\(count) x \(denial.target.method) \(denial.target.url): \(reason)\(suggestion)"))
        }
        lines += Self.rest(report.denials, "would deny")
        if hasShadow { lines.append(("shadow", "\(report.differences.total) verdicts differ")) }
        for (difference, count) in report.differences.items.prefix(Self.toldLimit) {
            let rule = difference.rule.isEmpty ? "" : " by rule \(difference.rule)"
            lines.append(
                (
                    "differs",
                    "\(count) x \(difference.target.method) \(difference.target.url): \(difference.active.text), "
                        + "\(difference.shadow.text)\(rule) under policy.shadow"
                ))
        }
        return lines + Self.rest(report.differences, "differs")
    }

    private static func rest<Value>(_ list: CountedList<Value>, _ name: String) -> [(String, String)] {
        let told = list.items.prefix(toldLimit).reduce(0) { $0 + $1.count }
        return list.total > told ? [(name, "and \(list.total - told) more: see larder status --output json")] : []
    }
}
