import HTTPMessage
import ProxyCore

/// Explains a request that is refused before it is interpreted.
extension Explanation {
    init(_ refusal: ExplainedHeads.Refusal, at now: Timestamp, tellsQuery: Bool) {
        let row = GatewayError(refusal.fault)
        tense = .would
        method = refusal.method
        url = Self.shown(refusal.target, tellsQuery: tellsQuery)
        at = now
        id = nil
        action = .refuse
        reason = "\(row.code.text)"
        status = row.status.code
        steps = [
            Self.faultStep(refusal.fault),
            Step("answer", "\(row.status.code), failed", values: [("outcome", .string("\(DecisionTrace.Outcome.failed.word)"))]),
        ]
    }

    static func faultStep(_ fault: Fault) -> Step {
        let row = GatewayError(fault)
        let detail = row.detail.map { ": \($0.text)" } ?? ""
        return Step(
            "fault", "\(row.code.text)\(detail): \(row.explanation.text)", values: [("code", .string("\(row.code.text)"))])
    }

    /// The URL. Its query is left out if the log omits queries, because queries often contain secrets.
    static func shown(_ url: String, tellsQuery: Bool) -> String {
        guard !tellsQuery, let mark = url.firstIndex(of: "?") else { return url }
        return url[..<mark] + leftOutQuery
    }

    static let leftOutQuery = "?…"
}
