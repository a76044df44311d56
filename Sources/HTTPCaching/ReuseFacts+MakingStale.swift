import HTTPMessage

extension ReuseFacts {
    /// The same response, stale from now on because somebody who may says so.
    ///
    /// It keeps its age and its windows of stale use (RFC 5861), which begin now: its lifetime ends with the age that it has, as if
    /// the origin server had said so, so that neither a heuristic nor a rule's lifetime makes it fresh again. Only a rule that is
    /// `unsafe` does.
    package func madeStale(at now: Timestamp) -> ReuseFacts {
        var facts = self
        facts.freshnessLifetime = min(freshnessLifetime, currentAge(at: now))
        if !lifetimeSource.isExplicit { facts.lifetimeSource = .expires }
        return facts
    }

    /// Whether the origin server's words alone keep it fresh (RFC 9111 §4.2). Rules may say otherwise when it is asked for.
    package func isFresh(at now: Timestamp) -> Bool {
        !flags.contains(.noCache) && freshnessLifetime.milliseconds > currentAgeInMilliseconds(at: now)
    }
}
