import CommandSupport
import TextCoding

/// One thing that was looked at, what was found, and by which command it is mended.
package struct Finding: Equatable, Sendable {
    package enum Outcome: String, Sendable {
        case good
        /// Worth a word, and nothing that stops anybody.
        case notable
        case bad
        /// Could not be looked at, for another finding's reason.
        case skipped
    }

    let name: String
    package let outcome: Outcome
    let explanation: String
    /// A command line for a shell.
    let remedy: String?

    package init(_ name: String, _ outcome: Outcome, _ explanation: String, remedy: String? = nil) {
        self.name = name
        self.outcome = outcome
        // Programs tell of the proxies that they were given, with passwords.
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
