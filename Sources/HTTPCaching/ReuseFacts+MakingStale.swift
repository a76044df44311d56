import HTTPMessage

extension ReuseFacts {
    /// The same response, marked as stale.
    ///
    /// The response keeps its age. Its lifetime ends at its current age, as if the origin server had set it, so that no heuristic
    /// lifetime makes the response fresh again. A rule's lifetime does so only if the rule is `unsafe`. The periods in which RFC 5861
    /// allows stale use keep their lengths, and begin now.
    package func madeStale(at now: Timestamp) -> ReuseFacts {
        var facts = self
        facts.freshnessLifetime = min(freshnessLifetime, currentAge(at: now))
        if !lifetimeSource.isExplicit { facts.lifetimeSource = .expires }
        return facts
    }

    /// Whether the response is fresh by the origin server's directives alone (RFC 9111 §4.2). Rules may change that when a client requests
    /// it.
    package func isFresh(at now: Timestamp) -> Bool {
        !flags.contains(.noCache) && freshnessLifetime.milliseconds > currentAgeInMilliseconds(at: now)
    }
}
