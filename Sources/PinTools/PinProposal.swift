import CommandSupport
import LarderSettings
import ProxyPolicy
import ServerTrust
import TextCoding
import UpstreamTransport

/// The pins that a server's chain offers, and the settings that pin the chosen certificate.
package struct PinProposal {
    package enum Choice: String, CaseIterable, Sendable {
        case leaf, intermediate, root

        /// The advantage and the cost of the choice.
        var tradeOff: String {
            switch self {
            case .leaf:
                "the server's own key, the strictest choice: once the pins are enforced, Larder rejects a new key until you add its pin"
            case .intermediate:
                "the issuer's key: Larder accepts any certificate from this issuer for this host, also renewals; servers change issuers without notice"
            case .root:
                "the root's key, the least strict choice: Larder accepts any certificate for this host below this root; root keys change least often"
            }
        }

        /// - Returns: `nil` if the chain has no such certificate.
        func depth(inChainOf count: Int) -> Int? {
            switch self {
            case .leaf: 0
            case .intermediate: count > 2 ? 1 : nil
            case .root: count > 1 ? count - 1 : nil
            }
        }
    }

    package let server: NamedServer
    /// The verified chain, the server's certificate first.
    let chain: [Certificate]
    let choice: Choice
    /// Whether the pin is the only trust anchor.
    package let isPinsOnly: Bool
    let isEnforced: Bool
    let backup: [String]
    let day: CalendarDay
    /// The terms of the host's current policy, except pins.
    let words: [(key: String, value: ShownValue)]

    package var pinned: Certificate? { choice.depth(inChainOf: chain.count).map { chain[$0] } }

    /// The server's chain, and the pins that could be chosen instead, as YAML comments.
    package var remarks: String {
        var lines = ["\(server.title), seen on \(day)\(isPinsOnly ? ": only its pin is trusted" : ""):"]
        lines += Self.lines(of: chain)
        lines.append("You can pin any of these keys:")
        for choice in Choice.allCases {
            guard let depth = choice.depth(inChainOf: chain.count) else { continue }
            let mark = choice == self.choice ? " (pinned here)" : ""
            lines.append("  \(choice.rawValue) \(chain[depth].publicKeyDigest)\(mark)")
            lines.append("    \(choice.tradeOff)")
        }
        if backup.isEmpty { lines += Self.backupMissing }
        return lines.map { "# \(printable($0, limit: 4096))\n" }.joined()
    }

    /// The content of a file for `tls.pins_from`.
    package var settings: String {
        let live = isPinsOnly ? "\(server.fileStem).pem" : pinned.map { "\($0.publicKeyDigest)" } ?? ""
        return Self.settings(
            for: server, words: words, live: [live], backup: backup, comment: "\(choice.rawValue), learned \(day)",
            isPinsOnly: isPinsOnly, isEnforced: isEnforced)
    }

    /// - Parameter words: the terms of the host's current policy, except pins, as in `PinProposal.words`.
    static func settings(
        for server: NamedServer, words: [(key: String, value: ShownValue)], live: [String], backup: [String], comment: String,
        isPinsOnly: Bool = false, isEnforced: Bool
    ) -> String {
        var pins: [(key: String, value: ShownValue)] = [("of", .list(live.map { .text($0) }))]
        if !backup.isEmpty { pins.append(("backup", .list(backup.map { .text($0) }))) }
        pins.append(("comment", .text(comment)))
        var policy = words
        if isPinsOnly { policy = policy.filter { $0.key != "anchors" } + [("anchors", .plain("pins"))] }
        policy.append(("pins", .mapping(pins)))
        // Pins that are trust anchors are always enforced.
        if !isPinsOnly { policy.append(("mode", .plain(isEnforced ? "enforce" : "report_only"))) }
        return YAMLWriter.write([(server.title, .mapping(policy))], indentation: 0)
    }

    /// The chain as text for people, one line per certificate.
    package static func lines(of chain: [Certificate]) -> [String] {
        chain.map { certificate in
            let facts = certificate.facts
            let end = facts.notAfter.map { "\(CalendarDay(of: $0))" } ?? "?"
            return "  \(facts.publicKeyDigest) until \(end) \(facts.subject)"
        }
    }

    static let backupMissing = [
        "There is no backup pin: when the key changes, all connections fail (RFC 7469 §4.3).",
        "Create the next key now, store it apart from the current key, and add it: larder pins rotate HOST --add KEY.pem",
    ]
}
