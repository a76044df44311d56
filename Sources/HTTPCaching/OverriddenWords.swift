/// The directives of the origin server that a decision overrode because of a rule. A trivial type (no reference counts).
package struct OverriddenWords: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let noStore = OverriddenWords(rawValue: 1 << 0)
    package static let `private` = OverriddenWords(rawValue: 1 << 1)
    /// The response sets a cookie and is shared although the origin server gave no lifetime (T23 in docs/threats.md).
    package static let setCookie = OverriddenWords(rawValue: 1 << 2)
    /// The explicit lifetime: max-age, s-maxage or Expires.
    package static let lifetime = OverriddenWords(rawValue: 1 << 3)
    package static let noCache = OverriddenWords(rawValue: 1 << 4)
    package static let mustRevalidate = OverriddenWords(rawValue: 1 << 5)
    package static let proxyRevalidate = OverriddenWords(rawValue: 1 << 6)
    package static let sMaxAge = OverriddenWords(rawValue: 1 << 7)

    /// The directives that were overridden to store the response.
    package init(storing facts: ReuseFacts) {
        self = []
        if facts.flags.contains(.noStore) { insert(.noStore) }
        if facts.flags.contains(.private) { insert(.private) }
        if facts.flags.contains(.setCookie), !facts.lifetimeSource.isExplicit { insert(.setCookie) }
    }

    /// The directives that were overridden to use the stored response.
    package init(using facts: ReuseFacts, by decision: ReuseDecision) {
        guard let terms = decision.terms, terms.usedUnsafe else {
            self = []
            return
        }
        self.init(storing: facts)
        let flags = facts.flags
        let isByRule = terms.lifetimeSource == .rule
        if isByRule, facts.lifetimeSource.isExplicit { insert(.lifetime) }
        guard isByRule || decision.isStale else { return }
        if flags.contains(.noCache) { insert(.noCache) }
        if flags.contains(.mustRevalidate) { insert(.mustRevalidate) }
        if flags.contains(.proxyRevalidate) { insert(.proxyRevalidate) }
        if decision.isStale, flags.contains(.sMaxAge) { insert(.sMaxAge) }
    }

    /// The directives as the origin server writes them, most severe first.
    package static let all: [(word: OverriddenWords, text: StaticString)] = [
        (.noStore, "no-store"), (.private, "private"), (.setCookie, "Set-Cookie"), (.noCache, "no-cache"),
        (.mustRevalidate, "must-revalidate"), (.proxyRevalidate, "proxy-revalidate"), (.sMaxAge, "s-maxage"),
        (.lifetime, "the lifetime"),
    ]
}

extension ReuseDecision {
    /// The age and lifetime with which a stored response is served; `nil` if none is served.
    package var terms: ReuseTerms? {
        switch self {
        case .fresh(let terms), .staleAllowed(let terms, _): terms
        case .validate, .forward, .notSatisfiable, .offlineMiss: nil
        }
    }

    package var isStale: Bool {
        if case .staleAllowed = self { true } else { false }
    }
}
