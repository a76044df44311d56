import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// Which requests may wait for one fetch together, and who may use what it brings (T24, RFC 9111 §4).
enum RequestCollapsing {
    /// A request whose answer could be for it alone, or for a part, asks for itself.
    static func mayJoin(
        _ request: RequestHead, directives: RequestDirectives, obligations: Obligations, _ secondary: SecondaryKey
    ) -> Bool {
        if obligations.cache.collapsing == .never { return false }
        // Fetches are joined by the primary key: those with other contents would wait for nothing.
        if directives.contains(.isKeyedByContent) { return false }
        let refusal = Storability.refusal(
            of: request, directives: directives, overrides: obligations.cache, secondary: secondary)
        guard refusal == nil else { return false }
        // One by one: an option set made of a list is built by generic code outside of the module that declares it.
        return !directives.contains(.authorization) && !directives.contains(.range) && !directives.contains(.cacheCondition)
            && !directives.contains(.originCondition) && acceptsFetched(directives, obligations)
    }

    /// Whether a response that was fetched for another could be fresh for this request: else it would wait in vain.
    private static func acceptsFetched(_ directives: RequestDirectives, _ obligations: Obligations) -> Bool {
        switch obligations.cache.effectivePolicy {
        case .reload, .reloadAll, .revalidate: return false
        case .useProtocol, .storedElseLoad, .storedOnly: break
        }
        let wantsItsOwn = directives.contains(.maxAge) && directives.maxAge == .zero
        return !directives.contains(.noCache) && !directives.contains(.pragmaNoCache) && !wantsItsOwn
    }

    /// What was fetched for another is used only as it could be used from the store: the nominated fields are the same, and
    /// it is fresh for this request.
    static func mayShare(
        _ shared: StoredResponse, with request: RequestHead, directives: RequestDirectives, obligations: Obligations,
        _ secondary: SecondaryKey, at now: Timestamp
    ) -> Bool {
        guard Vary.matches(shared.nominatedFields, request.fields, secondary) else { return false }
        if case .fresh = Reuse.decide(shared.facts, for: directives, overrides: obligations.cache, at: now) { return true }
        return false
    }
}
