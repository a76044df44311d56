import HTTPCaching

/// The `cache` section of a rule.
package struct CacheRule: Sendable {
    /// The overrides, a trivial value (no reference counts) that is passed along with each request.
    package var overrides = CacheOverrides.none
    package var key: KeyRewriting?
    /// Tags that are stored with responses, so that the responses can be found by tag.
    package var tags: [String] = []

    package init() {}
}
