import CLarderPSL

/// Domains under which anyone can register a name (publicsuffix.org), from libpsl's built-in list.
package enum PublicSuffixes {
    /// Whether a host may set cookies for this domain: the host itself, or a parent domain that is not a public suffix.
    static func permits(host: String, cookiesFor domain: String) -> Bool {
        // If libpsl was built without a list, only the host itself is allowed.
        guard let list = psl_builtin() else { return host == domain }
        return psl_is_cookie_domain_acceptable(list, host, domain) == 1
    }

    /// The registered domain of a host; `nil` for IP addresses and for public suffixes.
    package static func registrableDomain(of host: String) -> String? {
        guard let list = psl_builtin() else { return nil }
        // libpsl returns a pointer into the host's own bytes, which are valid only within this closure.
        return host.withCString { bytes in psl_registrable_domain(list, bytes).map { String(cString: $0) } }
    }
}
