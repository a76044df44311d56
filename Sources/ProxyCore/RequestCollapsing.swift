import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// Which requests may wait for one fetch, and which may use its response (T24, RFC 9111 §4).
enum RequestCollapsing {
    /// Whether the request may wait for another request's fetch. It may not wait if its response may be private to its client, or if it
    /// requests only a part.
    static func mayJoin(
        _ request: RequestHead, directives: RequestDirectives, obligations: Obligations, _ secondary: SecondaryKey
    ) -> Bool {
        if obligations.cache.collapsing == .never { return false }
        // Requests join a fetch by their primary key alone, so requests with different contents would wait for a response that
        // they cannot use.
        if directives.contains(.isKeyedByContent) { return false }
        let refusal = Storability.refusal(
            of: request, directives: directives, overrides: obligations.cache, secondary: secondary)
        guard refusal == nil else { return false }
        // The flags are checked one by one, because an option set that is written as a list is built by slow generic code.
        return !directives.contains(.authorization) && !directives.contains(.range) && !directives.contains(.cacheCondition)
            && !directives.contains(.originCondition) && acceptsFetched(directives, obligations)
    }

    /// Whether a response fetched for another request could be fresh enough for this request. If not, this request would wait for
    /// a response that it cannot use.
    private static func acceptsFetched(_ directives: RequestDirectives, _ obligations: Obligations) -> Bool {
        switch obligations.cache.effectivePolicy {
        case .reload, .reloadAll, .revalidate: return false
        case .useProtocol, .storedElseLoad, .storedOnly: break
        }
        let wantsItsOwn = directives.contains(.maxAge) && directives.maxAge == .zero
        return !directives.contains(.noCache) && !directives.contains(.pragmaNoCache) && !wantsItsOwn
    }

    /// A response fetched for another request is used only if it could be used from the store: its nominated fields match, and it is fresh
    /// for this request.
    static func mayShare(
        _ shared: StoredResponse, with request: RequestHead, directives: RequestDirectives, obligations: Obligations,
        _ secondary: SecondaryKey, at now: Timestamp
    ) -> Bool {
        guard Vary.matches(shared.nominatedFields, request.fields, secondary) else { return false }
        if case .fresh = Reuse.decide(shared.facts, for: directives, overrides: obligations.cache, at: now) { return true }
        return false
    }
}
