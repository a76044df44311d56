import HTTPCaching

/// Whether the response was stored, with only the facts that the trace shows. A trivial type.
package enum StorageTrace: Equatable, Sendable {
    /// `usedUnsafe`: an unsafe rule overrode no-store or private, or shares a cookie (T23).
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
