import HTTPCaching

/// The `cache` section of a rule.
package struct CacheRule: Sendable {
    /// The overrides, a trivial value that is passed along with each request.
    package var overrides = CacheOverrides.none
    package var key: KeyRewriting?
    /// Tags that responses are stored with, so that they can be found by tag.
    package var tags: [String] = []

    package init() {}
}
