import CommandSupport
import LarderSettings
import ServerTrust
import TextCoding

/// A server's chains in the access log, and the pins proposed for them: every key that was seen is pinned.
package struct LoggedChains {
    let server: NamedServer
    /// The chains in the order in which they were first seen; not empty.
    let sightings: [ChainLog.Sighting]
    let choice: PinProposal.Choice
    let isEnforced: Bool
    let backup: [String]
    let day: CalendarDay
    /// The terms of the host's current policy, except pins, as in `PinProposal.words`.
    let words: [(key: String, value: ShownValue)]

    package init(
        server: NamedServer, sightings: [ChainLog.Sighting], choice: PinProposal.Choice, isEnforced: Bool, backup: [String],
        day: CalendarDay, words: [(key: String, value: ShownValue)]
    ) {
        self.server = server
        self.sightings = sightings
        self.choice = choice
        self.isEnforced = isEnforced
        self.backup = backup
        self.day = day
        self.words = words
    }

    /// The keys at one place (leaf, intermediate or root) in all chains, the key that was seen last first.
    private func keys(_ choice: PinProposal.Choice) -> [SHA256Digest] {
        sightings.sorted { $0.last > $1.last }.reduce(into: []) { keys, sighting in
            guard let depth = choice.depth(inChainOf: sighting.chain.count) else { return }
            let key = sighting.chain[depth].key
            if !keys.contains(key) { keys.append(key) }
        }
    }

    /// - Throws: an error if there is nothing to pin, or if the server already uses the backup key.
    package func learned() throws(PinLearning.Refusal) -> LearnedPins {
        let pinned = keys(choice)
        if pinned.isEmpty { throw PinLearning.Refusal(reason: "the server's chains have no \(choice.rawValue) certificate") }
        if pinned.contains(where: { backup.contains("\($0)") }) {
            throw PinLearning.Refusal(
                reason: "the server already uses the backup key; a backup must be a key that the server does not use yet")
        }
        let settings = PinProposal.settings(
            for: server, words: words, live: pinned.map { "\($0)" }, backup: backup,
            comment: "\(choice.rawValue), learned \(day) from the log", isEnforced: isEnforced)
        return LearnedPins(server: server, remarks: remarks(pinned), settings: settings)
    }

    private func remarks(_ pinned: [SHA256Digest]) -> String {
        var lines = ["\(server.title), from the access log as of \(day):"]
        for sighting in sightings {
            lines.append("  handshakes \(sighting.count), first \(sighting.first), last \(sighting.last)")
            for link in sighting.chain {
                lines.append("    \(link.key) until \(link.end.map { "\($0)" } ?? "?") \(link.subject)")
            }
        }
        lines.append("You can pin any of these keys:")
        for choice in PinProposal.Choice.allCases {
            let keys = keys(choice)
            if keys.isEmpty { continue }
            let mark = choice == self.choice ? " (pinned here)" : ""
            lines += keys.map { "  \(choice.rawValue) \($0)\(mark)" } + ["    \(choice.tradeOff)"]
        }
        if pinned.count > 1 {
            lines += [
                "the log has \(pinned.count) \(choice.rawValue) keys, and each of them is pinned: remove the pins of keys that the server no longer uses",
                "(larder pins rotate HOST --retire PIN)",
            ]
        }
        if backup.isEmpty { lines += PinProposal.backupMissing }
        return lines.map { "# \(printable($0, limit: 4096))\n" }.joined()
    }
}
