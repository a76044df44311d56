import HTTPMessage

/// The numbers behind a decision on freshness (RFC 9111 §4.2), for explanations.
extension ReuseFacts {
    /// The lifetime in force under these overrides.
    package func freshnessLifetime(under overrides: CacheOverrides) -> DeltaSeconds { lifetime(under: overrides).value }

    /// corrected_initial_age in whole seconds (RFC 9111 §4.2.3).
    package var initialAge: DeltaSeconds { DeltaSeconds(initialAgeInMilliseconds / 1000) }

    /// resident_time in whole seconds (RFC 9111 §4.2.3).
    package func residentTime(at now: Timestamp) -> DeltaSeconds {
        DeltaSeconds(max(0, now.milliseconds - responseTime.milliseconds) / 1000)
    }
}
