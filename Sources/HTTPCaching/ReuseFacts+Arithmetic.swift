import HTTPMessage

/// The numbers behind a freshness decision (RFC 9111 §4.2), for explanations.
extension ReuseFacts {
    /// The lifetime that applies under these overrides, and its source.
    package func activeLifetime(under overrides: CacheOverrides) -> (value: DeltaSeconds, source: LifetimeSource) {
        let lifetime = lifetime(under: overrides)
        return (lifetime.value, lifetime.source)
    }

    /// The source that limits the lifetime if no rule sets one. `lifetimeSource` says whether the origin server gave the lifetime, and
    /// stays `heuristic` if the signature limits a heuristic lifetime.
    package var limitingSource: LifetimeSource {
        let isCut = lifetimeSource == .heuristic && freshnessLifetime == signatureLifetime
        return isCut ? .signature : lifetimeSource
    }

    /// corrected_initial_age in whole seconds (RFC 9111 §4.2.3).
    package var initialAge: DeltaSeconds { DeltaSeconds(initialAgeInMilliseconds / 1000) }

    /// resident_time in whole seconds (RFC 9111 §4.2.3).
    package func residentTime(at now: Timestamp) -> DeltaSeconds {
        DeltaSeconds(max(0, now.milliseconds - responseTime.milliseconds) / 1000)
    }
}
