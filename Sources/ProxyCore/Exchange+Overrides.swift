import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// What rules led past, and which.
extension Exchange {
    /// The words of the origin server's that a decision about this exchange went past.
    private var overriddenWords: OverriddenWords {
        if case .stored(_, _, usedUnsafe: true) = trace.storage, let facts = cache.facts {
            return OverriddenWords(storing: facts)
        }
        // Nearly always nothing was gone past: then nothing is looked at.
        guard let reuse = trace.reuse, let terms = reuse.terms, terms.usedUnsafe, let selected = cache.selected else {
            // Not [], which is built by generic code outside of the module that declares the type.
            return OverriddenWords(rawValue: 0)
        }
        return OverriddenWords(using: selected.facts, by: reuse)
    }

    /// Each of these with the rule that did it, for explanations: `rule NAME overrode no-store`.
    package var ruleOverrides: [(rule: String, word: StaticString)] {
        let words = overriddenWords
        return OverriddenWords.all.compactMap { entry in
            guard words.contains(entry.word) else { return nil }
            return (overridingRule(entry.word)?.name ?? "", entry.text)
        }
    }

    /// The gravest of these, and the rule that did it.
    var firstOverride: (rule: PolicyRule, word: StaticString)? {
        let words = overriddenWords
        for entry in OverriddenWords.all where words.contains(entry.word) {
            if let rule = overridingRule(entry.word) { return (rule, entry.text) }
        }
        return nil
    }

    private func overridingRule(_ word: OverriddenWords) -> PolicyRule? {
        switch word {
        case .noStore: matched.rule(saying: .ignoreNoStore)
        case .private: matched.rule(saying: .ignorePrivate)
        case .setCookie: matched.rule(saying: .setCookie)
        case .lifetime: matched.rule(saying: .ttl)
        // Served fresh it is the lifetime that went past the word, served stale the policy.
        default: matched.rule(saying: trace.reuse?.isStale ?? false ? .policy : .ttl)
        }
    }
}
