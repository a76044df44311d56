import HTTPCaching

/// Whether other nodes may have a stored response.
enum Sharing {
    /// Only responses that RFC 9111 §3 lets any shared cache store: not those that only an unsafe rule lets this node store, nor those to a
    /// request with credentials, nor those that set a cookie. (A request with credentials does not take the lease that an upload needs.)
    static func permits(_ response: StoredResponse) -> Bool {
        let flags = response.facts.flags
        return flags.isDisjoint(with: [.private, .noStore, .setCookie, .authorized]) && !response.facts.isStoredByOverride
    }
}
