import CPSL

/// Domains under which anybody may have a name (publicsuffix.org), by libpsl's own list.
enum PublicSuffixes {
    /// Whether a host may set cookies for this domain, which is its own or one above it, and no public suffix.
    static func permits(host: String, cookiesFor domain: String) -> Bool {
        // Where the library was built without a list, only the host itself is its own.
        guard let list = psl_builtin() else { return host == domain }
        return psl_is_cookie_domain_acceptable(list, host, domain) == 1
    }

    /// The part of a host that somebody has registered; `nil` for addresses, and for suffixes themselves.
    static func registrableDomain(of host: String) -> String? {
        guard let list = psl_builtin(), let domain = psl_registrable_domain(list, host) else { return nil }
        return String(cString: domain)
    }
}
