import HTTPCaching

/// Whether the response was kept, as the trace tells it: of the facts no more than is told. Trivial.
package enum StorageTrace: Equatable, Sendable {
    /// With `usedUnsafe` an unsafe rule led past no-store or private, or shares a cookie (T23).
    case stored(lifetime: DeltaSeconds, source: LifetimeSource, usedUnsafe: Bool)
    case refused(StorageRefusal)

    init(_ decision: StorageDecision) {
        self =
            switch decision {
            case .store(let facts, let usedUnsafe):
                .stored(lifetime: facts.freshnessLifetime, source: facts.limitingSource, usedUnsafe: usedUnsafe)
            case .doNotStore(let refusal): .refused(refusal)
            }
    }
}
