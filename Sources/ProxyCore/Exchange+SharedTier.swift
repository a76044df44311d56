import HTTPCaching
import HTTPMessage

/// The shared tier: responses that other machines have fetched. It is asked before the origin, by the exchange that leads the fetch of its
/// key, and its responses are used under the same rules as those of the local store.
///
///     joining ──sharedFound──▶ delivering (fresh) | fetching (it is validated, or cannot be used)
extension Exchange {
    /// Whether the shared tier may have the response, and may get it.
    ///
    /// Not if a rule of this machine validates responses, refuses to store them, or makes their key: the rules of the other machines may
    /// differ.
    package var asksSharedTier: Bool {
        mode == .live && !isBackground && request.method == .get && !obligations.validates && !obligations.checksBody
            && !obligations.rewritesKey && !obligations.cache.storeNever && !context.validatesStored
    }

    /// Whether a response of the shared tier can be delivered without asking the origin.
    package func mayUse(shared: StoredResponse, at now: Timestamp) -> Bool {
        guard shared.body.length <= obligations.cache.maximumBodyLength ?? .max else { return false }
        return RequestCollapsing.mayShare(
            shared, with: request, directives: directives, obligations: obligations, secondaryKey, at: now)
    }

    mutating func sharedFound(_ shared: StoredResponse, at now: Timestamp, into commands: inout CommandBuffer) {
        if mayUse(shared: shared, at: now) {
            trace.reuse = Reuse.decide(shared.facts, for: directives, overrides: obligations.cache, at: now).fromSharedTier
            cache.selected = shared
            cache.isValidating = false
            return deliverSelected(outcome: .hit, into: &commands)
        }
        cache.isLeading = true
        if isBetterToValidate(shared) {
            cache.selected = shared
            found.siblings.insert(shared, at: 0)
            cache.isValidating = true
            trace.reuse = .validate(.stale)
        }
        fetch(at: now, into: &commands)
    }

    /// Whether the origin is to validate this response, instead of the one that the local store had.
    private func isBetterToValidate(_ shared: StoredResponse) -> Bool {
        guard shared.facts.canBeValidated, obligations.cache.permitsUse(of: shared.facts),
            Vary.matches(shared.nominatedFields, request.fields, secondaryKey)
        else { return false }
        return cache.selected.map { shared.isNewer(than: $0) } ?? true
    }
}
