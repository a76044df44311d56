import HTTPCaching
import ProxyPolicy

/// The origin's directives that a decision overrode, and the rules responsible.
struct RuleOverrides {
    private let words: OverriddenWords
    private let matched: MatchedRules
    private let isStale: Bool

    /// - Parameters:
    ///   - selected: the stored response that is used.
    /// - facts: the facts of the response that is stored.
    init(of trace: DecisionTrace, selected: StoredResponse?, facts: ReuseFacts?, matched: MatchedRules) {
        words = Self.words(of: trace, selected: selected, facts: facts)
        self.matched = matched
        isStale = trace.reuse?.isStale ?? false
    }

    private static func words(of trace: DecisionTrace, selected: StoredResponse?, facts: ReuseFacts?) -> OverriddenWords {
        if case .stored(_, _, usedUnsafe: true) = trace.storage, let facts { return OverriddenWords(storing: facts) }
        // In the usual case no directive was overridden, and no further checks are needed.
        guard let reuse = trace.reuse, let terms = reuse.terms, terms.usedUnsafe, let selected else {
            // The value is not written as `[]`, because an empty literal is built by slow generic code.
            return OverriddenWords(rawValue: 0)
        }
        return OverriddenWords(using: selected.facts, by: reuse)
    }

    /// Each overridden directive with its rule, for explanations: `rule NAME overrode no-store`.
    var all: [(rule: String, word: StaticString)] {
        OverriddenWords.all.compactMap { entry in
            guard words.contains(entry.word) else { return nil }
            return (rule(overriding: entry.word)?.name ?? "", entry.text)
        }
    }

    /// The most serious of the overrides.
    var first: (rule: PolicyRule, word: StaticString)? {
        for entry in OverriddenWords.all where words.contains(entry.word) {
            if let rule = rule(overriding: entry.word) { return (rule, entry.text) }
        }
        return nil
    }

    private func rule(overriding word: OverriddenWords) -> PolicyRule? {
        switch word {
        case .noStore: matched.rule(saying: .ignoreNoStore)
        case .private: matched.rule(saying: .ignorePrivate)
        case .setCookie: matched.rule(saying: .setCookie)
        case .lifetime: matched.rule(saying: .ttl)
        // A fresh response is used because of its lifetime, and a stale response is used because of the policy.
        default: matched.rule(saying: isStale ? .policy : .ttl)
        }
    }
}
