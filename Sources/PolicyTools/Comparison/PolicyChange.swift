import TextCoding

/// Requests that one of two policies allows and the other does not. One request is given as an example.
package struct PolicyChange: Equatable, Sendable {
    package enum Kind: String, Sendable {
        /// Only the new policy allows the requests.
        case opens
        /// Only the old policy allows the requests.
        case closes
    }

    /// Why the example alone does not prove that the policies differ.
    package enum Doubt: String, Sendable {
        /// Some rules match on more than a URL and a method.
        case otherWords = "other_words"
        /// Servers may read the path in several ways.
        case readings
    }

    package let kind: Kind
    /// Why the change is doubtful; `nil` if both policies evaluated the example, with different verdicts.
    package let doubt: Doubt?
    package let method: String
    package let target: String
    /// The pattern of the changed hosts: a host, `*.example.com`, or "any other host".
    package let hosts: String
    package let before: Standing
    package let after: Standing

    /// The verdict of one policy on the example.
    package struct Standing: Hashable, Sendable {
        package let word: PolicyDecision.Word
        package let rule: String?
        package let allowsAnyProtocol: Bool

        init(_ decision: PolicyDecision) {
            self.init(decision.word, decision.rule, anyProtocol: decision.allowsAnyProtocol)
        }

        init(_ word: PolicyDecision.Word, _ rule: String?, anyProtocol: Bool = false) {
            self.word = word
            self.rule = rule
            allowsAnyProtocol = anyProtocol
        }

        package var text: String {
            let ending = allowsAnyProtocol && rule != nil ? ", for any protocol" : ""
            switch word {
            case .allow: return (rule.map { "rule `\($0)` allows the request" } ?? "no rule denies the request") + ending
            case .ask: return "rule `\(rule ?? "")` asks an approver"
            case .intercept: return "allowed only if Larder intercepts the host"
            case .deniedByRule: return "rule `\(rule ?? "")` denies the request"
            case .egressDenied: return "no rule allows the request"
            case .ambiguousPath: return "the path is ambiguous, and the rules do not allow every interpretation"
            }
        }

        var json: JSONText {
            .object([("verdict", .string(word.rawValue)), ("rule", rule.map(JSONText.string) ?? .null)])
        }
    }

    /// The change as one line, for example: opens GET https://example.com/
    /// (before: no rule allows the request; now: rule `x` allows the request).
    package var text: String {
        let verb = doubt == nil ? kind.rawValue : kind == .opens ? "may open" : "may close"
        let cause =
            switch doubt {
            case nil: ""
            case .otherWords: "; depends on keys of `match` that this command does not compare"
            case .readings: "; depends on how servers interpret the path"
            }
        let (former, now) = (before.text + limit(of: before, beside: after), after.text + limit(of: after, beside: before))
        return "\(verb) \(method) \(printable(target, limit: 300)) (before: \(former); now: \(now)\(cause))"
    }

    /// Both verdicts may allow a tunnel, one of them for any protocol and the other for TLS only.
    private func limit(of standing: Standing, beside other: Standing) -> String {
        let areAllowed = standing.word == .allow && other.word == .allow
        return method == "CONNECT" && areAllowed && other.allowsAnyProtocol && !standing.allowsAnyProtocol
            ? ", but only for TLS" : ""
    }

    package var json: JSONText {
        .object([
            ("change", .string(kind.rawValue)), ("certain", .bool(doubt == nil)),
            ("doubt", doubt.map { .string($0.rawValue) } ?? .null), ("method", .string(method)), ("url", .string(target)),
            ("hosts", .string(hosts)), ("before", before.json), ("after", after.json),
        ])
    }
}

/// The result of comparing two policies.
package struct PolicyDifferences: Sendable {
    package internal(set) var changes: [PolicyChange] = []
    /// Whether there are more changes than are listed.
    package internal(set) var isCut = false
    /// Hosts whose rules are too many or too complex to be compared.
    package internal(set) var notCompared: [String] = []

    /// Whether some request may be allowed now that was denied before.
    package var mayOpen: Bool { isCut || !notCompared.isEmpty || changes.contains { $0.kind == .opens } }

    package var isEmpty: Bool { changes.isEmpty && notCompared.isEmpty && !isCut }

    package var lines: [String] {
        var lines = changes.map(\.text)
        if isCut { lines.append("this list is incomplete: there are more changes") }
        if let first = notCompared.first {
            let others = notCompared.count > 1 ? " and \(notCompared.count - 1) more" : ""
            lines.append("not compared, because the rules are too complex: \(first)\(others)")
        }
        return lines
    }

    package var json: JSONText {
        .object([
            ("opens", .bool(mayOpen)), ("changes", .array(changes.map(\.json))), ("more", .bool(isCut)),
            ("not_compared", .array(notCompared.map(JSONText.string))),
        ])
    }
}
