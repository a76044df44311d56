import CommandSupport
import TextCoding

/// One check, its result, and the command that fixes the problem.
package struct Finding: Equatable, Sendable {
    package enum Outcome: String, Sendable {
        case good
        /// The check found something to report that is not an obstacle.
        case notable
        case bad
        /// The check could not be made, because of another finding.
        case skipped
    }

    let name: String
    package let outcome: Outcome
    let explanation: String
    /// The shell command that fixes the problem.
    let remedy: String?

    package init(_ name: String, _ outcome: Outcome, _ explanation: String, remedy: String? = nil) {
        self.name = name
        self.outcome = outcome
        // Passwords are removed here, because programs print the proxies that they were given.
        self.explanation = explanation.replacing(/:\/\/\S*@/.matchingSemantics(.unicodeScalar), with: "://")
        self.remedy = remedy
    }

    package var json: JSONText {
        .object([
            ("name", .string(name)), ("outcome", .string(outcome.rawValue)), ("explanation", .string(explanation)),
            ("remedy", remedy.map(JSONText.string) ?? .null),
        ])
    }

    package func text(style: Terminal.Style) -> String {
        let mark = outcome.rawValue + String(repeating: " ", count: 8 - outcome.rawValue.count)
        let shown = outcome == .bad ? style.bold(mark) : outcome == .good ? style.green(mark) : mark
        let line = "\(shown) \(name): \(printable(explanation, limit: 4096))\n"
        return line + (remedy.map { "         fix: \(printable($0, limit: 4096))\n" } ?? "")
    }
}
