import HTTPMessage
import ProxyServer
import TextCoding

/// How Larder handled a request, or would handle it now, step by step, with the RFC section for each step. For people (`text`) and for
/// programs (`json`, whose schema is docs/explain.schema.json).
package struct Explanation: Sendable {
    package enum Tense: String, Sendable { case did, would }

    /// How the request was, or would be, answered.
    package enum Action: String, Sendable, CaseIterable {
        case serveStored = "serve_stored"
        case serveStale = "serve_stale"
        case validate
        case forward
        case refuse
        case answer
        case tunnel
        /// The client disconnected before a decision, or the decision depends on data that was not given.
        case none
    }

    /// One step: its name, a sentence, its RFC section, its values, and its substeps.
    package struct Step: Sendable {
        package let name: String
        package let says: String
        /// The RFC section, such as `RFC 9111 §4.2`; empty if no RFC applies.
        package var section = ""
        package var values: [(name: String, value: JSONText)] = []
        package var steps: [Step] = []

        init(
            _ name: String, _ says: String, _ section: String = "", values: [(name: String, value: JSONText)] = [],
            steps: [Step] = []
        ) {
            self.name = name
            self.says = says
            self.section = section
            self.values = values
            self.steps = steps
        }
    }

    package let tense: Tense
    package let method: String
    package let url: String
    package let at: Timestamp
    /// The request's ID in the log; `nil` for a dry run.
    package let id: UInt64?
    package let action: Action
    /// The word of the reason, as in the log and in Cache-Status; empty if there is none.
    package let reason: String
    /// The status for the client; 0 if it is unknown.
    package let status: UInt16
    package internal(set) var steps: [Step]
    /// The cache key of the request in a dry run; empty for a request that was served.
    var key: [UInt8] = []

    /// Adds the reason why the response to the latest request with the same method and cache key was not stored.
    func noting(_ latest: TracedRequest) -> Explanation {
        guard case .refused(let refusal) = latest.trace.storage else { return self }
        let text = ReasonText(refusal)
        let name = Self.hexadecimal(latest.id)
        var noted = self
        noted.steps.append(
            Step(
                "last response", "not stored: \(text.says) (request \(name), \(latest.trace.receivedAt.rfc3339))", text.section,
                values: [
                    ("id", .string(name)), ("at", .string(latest.trace.receivedAt.rfc3339)),
                    ("reason", .string("\(refusal.word)")),
                ]))
        return noted
    }

    /// Adds why the response to the latest request for the same URL is unknown: the URL has a query.
    func notingForgottenQuery() -> Explanation {
        var noted = self
        noted.steps.append(
            Step("last response", "unknown: Larder does not remember the queries of requests (log.access.query is false)"))
        return noted
    }

    // MARK: JSON

    package var json: JSONText {
        var members: [(String, JSONText)] = [
            ("tense", .string(tense.rawValue)),
            ("request", .object([("method", .string(method)), ("url", .string(url))])), ("at", .string(at.rfc3339)),
        ]
        if let id { members.append(("id", .string(Self.hexadecimal(id)))) }
        members.append(("action", .string(action.rawValue)))
        if !reason.isEmpty { members.append(("reason", .string(reason))) }
        if status > 0 { members.append(("status", .number(Int(status)))) }
        members.append(("steps", .array(steps.map(Self.json))))
        return .object(members)
    }

    private static func json(_ step: Step) -> JSONText {
        var members: [(String, JSONText)] = [("step", .string(step.name)), ("says", .string(step.says))]
        if !step.section.isEmpty { members.append(("section", .string(step.section))) }
        if !step.values.isEmpty { members.append(("values", .object(step.values.map { ($0.name, $0.value) }))) }
        if !step.steps.isEmpty { members.append(("steps", .array(step.steps.map(json)))) }
        return .object(members)
    }

    /// A request's ID in the form of the log.
    package static func hexadecimal(_ id: UInt64) -> String { Hexadecimal.encode(padded: id) }

    // MARK: Text

    package var text: String {
        var lines = ["\(method) \(url)" + (id.map { "  (\(Self.hexadecimal($0)), \(at.rfc3339))" } ?? "")]
        Self.write(steps, indentation: "", into: &lines)
        return lines.map { printable($0, limit: 8192) + "\n" }.joined()
    }

    private static func write(_ steps: [Step], indentation: String, into lines: inout [String]) {
        for (index, step) in steps.enumerated() {
            let isLast = index == steps.count - 1
            let section = step.section.isEmpty ? "" : "  [\(step.section)]"
            lines.append("\(indentation)\(isLast ? "└─" : "├─") \(step.name): \(step.says)\(section)")
            write(step.steps, indentation: indentation + (isLast ? "   " : "│  "), into: &lines)
        }
    }
}
