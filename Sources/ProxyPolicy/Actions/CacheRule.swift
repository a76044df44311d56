import HTTPCaching

/// The `cache` of one rule.
package struct CacheRule: Sendable {
    /// The words that are trivial and go with each request.
    package var overrides = CacheOverrides.none
    package var key: KeyRewriting?
    /// What the responses are stored under besides their key, to be found by.
    package var tags: [String] = []

    package init() {}
}
