import HTTPCaching

/// A key of `cache`. Larder uses it to name the rule that set the key.
package enum CacheWord: Sendable, CaseIterable {
    case policy, store, ttl, maxSize, grace, heuristic, collapse, fill, variants, setCookie
    case ignoreNoStore, ignorePrivate
}

extension CacheRule {
    package func says(_ word: CacheWord) -> Bool {
        switch word {
        case .policy: overrides.policy != nil
        case .store: overrides.storeNever
        case .ttl: overrides.givesLifetime
        case .maxSize: overrides.maximumBodyLength != nil
        case .grace: overrides.grace != nil
        case .heuristic: overrides.permitsHeuristic != nil
        case .collapse: overrides.collapsing != nil
        case .fill: overrides.fillsParts != nil
        case .variants: overrides.variantLimit != nil
        case .setCookie: overrides.setCookie != nil
        case .ignoreNoStore: overrides.ignored.contains(.noStore)
        case .ignorePrivate: overrides.ignored.contains(.private)
        }
    }
}
