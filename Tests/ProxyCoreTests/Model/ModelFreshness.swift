/// Freshness, age, and what may be stale (RFC 9111 §4.2), in whole seconds.
extension ModelStored {
    private static let heuristicallyCacheable = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// RFC 9110 §15.1.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool { heuristicallyCacheable.contains(status) }

    /// RFC 9110 §6.6.1: without Date "the time it was received"; an invalid one "MAY" be replaced by it, and is.
    var dateValue: Int { response.fields.single("date").flatMap { ModelDate.seconds($0) } ?? responseTime }

    /// §4.2.1, in the order of the text. An invalid value is stale: a lifetime of zero.
    var freshnessLifetime: Int {
        let directives = response.directives
        // "If the cache is shared and the s-maxage response directive is present, use its value".
        let shared = directives.number("s-maxage")
        if shared.isPresent { return shared.seconds ?? 0 }
        // "If the max-age response directive is present, use its value".
        let maximumAge = directives.number("max-age")
        if maximumAge.isPresent { return maximumAge.seconds ?? 0 }
        // "If the Expires response header field is present, use its value minus the value of the Date response header field".
        let expires = response.fields.values("expires")
        if !expires.isEmpty {
            guard let seconds = response.fields.single("expires").flatMap({ ModelDate.seconds($0) }) else { return 0 }
            return max(0, seconds - dateValue)
        }
        return heuristicLifetime
    }

    /// §4.2.2: "heuristics can only be used on responses without explicit freshness whose status codes are defined as
    /// heuristically cacheable […], and those […] that have been marked as explicitly cacheable (e.g., with a "public" response
    /// directive)". Ours: a tenth of the time since the last modification, a day at most.
    private var heuristicLifetime: Int {
        guard Self.isHeuristicallyCacheable(response.status) || response.directives.has("public"),
            let lastModified = response.lastModified
        else { return 0 }
        return min(max(0, dateValue - lastModified) / 10, 86_400)
    }

    var hasExplicitLifetime: Bool {
        let directives = response.directives
        return directives.has("s-maxage") || directives.has("max-age") || response.fields.has("expires")
    }

    /// §5.1: "SHOULD use the first member of the field value, discarding subsequent ones. If the field value […] is invalid […], a
    /// cache SHOULD ignore the field."
    private var ageValue: Int {
        let members = response.fields.values("age").flatMap { ModelText.members($0) }
        return members.first.flatMap { ModelText.deltaSeconds($0) } ?? 0
    }

    /// §4.2.3.
    func currentAge(at now: Int) -> Int {
        let apparentAge = max(0, responseTime - dateValue)
        let responseDelay = responseTime - requestTime
        let correctedAgeValue = ageValue + responseDelay
        let correctedInitialAge = max(apparentAge, correctedAgeValue)
        let residentTime = now - responseTime
        return min(correctedInitialAge + residentTime, 2_147_483_648)
    }

    /// §4.2: "response_is_fresh = (freshness_lifetime > current_age)".
    func isFresh(at now: Int) -> Bool { freshnessLifetime > currentAge(at: now) }

    /// How long it has been stale, in seconds.
    func staleness(at now: Int) -> Int { currentAge(at: now) - freshnessLifetime }

    /// §4.2.4: "by a "no-cache" cache directive, a "must-revalidate" cache-response-directive, or an applicable "s-maxage" or
    /// "proxy-revalidate" cache-response-directive".
    var forbidsStaleUse: Bool {
        let directives = response.directives
        return directives.hasUnqualified("no-cache") || directives.has("must-revalidate") || directives.has("proxy-revalidate")
            || directives.has("s-maxage")
    }

    /// RFC 5861 §3: "up to the indicated number of seconds".
    func isWithinStaleWhileRevalidate(at now: Int) -> Bool {
        guard let limit = response.directives.number("stale-while-revalidate").seconds else { return false }
        return !forbidsStaleUse && staleness(at: now) <= limit
    }

    /// RFC 5861 §4: "When the cached response is more stale than the indicated amount, the cached response SHOULD NOT be used": by the
    /// limit of the response, of the request, or of both.
    func isWithinStaleIfError(_ request: ModelDirectives, at now: Int, _ choices: inout ModelChoices) -> Bool {
        let limits = [response.directives.number("stale-if-error").seconds, request.numbers("stale-if-error").min()].compactMap {
            $0
        }
        let keeping = limits.filter { staleness(at: now) <= $0 }
        if keeping.isEmpty { return false }
        return keeping.count == limits.count || choices.may(.takesOneLimitOfTwo)
    }
}
