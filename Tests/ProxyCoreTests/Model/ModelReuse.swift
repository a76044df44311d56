/// How a stored response may be used for a request (RFC 9111 §4, §5.2.1).
enum ModelReuse: Equatable {
    case use
    /// Used stale at once, and validated in the background (RFC 5861 §3).
    case useAndValidate
    case validate

    static func decide(
        _ stored: ModelStored, for request: ModelRequest, at now: Int, _ choices: inout ModelChoices
    ) -> ModelReuse {
        let wishes = request.directives
        // §4: "the stored response does not contain the no-cache cache directive, unless it is successfully validated".
        if stored.response.directives.hasUnqualified("no-cache") { return .validate }
        // §5.2.1.4; §5.4: Pragma counts only without Cache-Control.
        if wishes.has("no-cache") || asksByPragma(request) { return .validate }
        let age = stored.currentAge(at: now)
        let mayBeStale = staleLimit(wishes)
        // §5.2.1.1: "prefers a response whose age is less than or equal to the specified number of seconds".
        // With 0, which reloads use to request a validation, regardless of the clock.
        if wishes.has("max-age"), age > maximumAge(wishes) || maximumAge(wishes) == 0 {
            // RFC 8246 §2.1.
            let isImmutable = stored.isFresh(at: now) && stored.response.directives.has("immutable")
            if !isImmutable || choices.may(.takesMaxAgeAsSignal) { return .validate }
        }
        // §5.2.1.3: "whose freshness lifetime is no less than its current age plus the specified time".
        if let minimum = wishes.numbers("min-fresh").max(), stored.freshnessLifetime < age + minimum { return .validate }
        if stored.isFresh(at: now) { return .use }
        if stored.forbidsStaleUse { return .validate }
        // §5.2.1.1: "Unless the max-stale request directive is also present, the client does not wish to receive a stale response"; the
        // same applies to min-fresh. §5.2.1.2: "no more than the specified number of seconds".
        let staleness = stored.staleness(at: now)
        if let limit = mayBeStale, staleness > limit { return .validate }
        let wantsFresh = mayBeStale == nil && (wishes.has("max-age") || wishes.has("min-fresh"))
        if !wantsFresh, stored.isWithinStaleWhileRevalidate(at: now) {
            return mayBeStale != nil && choices.may(.servesByMaxStaleAlone) ? .use : .useAndValidate
        }
        return mayBeStale != nil ? .use : .validate
    }

    static func asksByPragma(_ request: ModelRequest) -> Bool {
        guard !request.fields.has("cache-control") else { return false }
        return ModelDirectives(request.fields.values("pragma")).has("no-cache")
    }

    /// Whether the request's directives forbid a response with this staleness, once the origin server has failed.
    static func isAgainstStale(_ request: ModelRequest, _ staleness: Int) -> Bool {
        let wishes = request.directives
        if wishes.has("no-cache") || asksByPragma(request) { return true }
        if let limit = staleLimit(wishes), staleness > limit { return true }
        return wishes.has("max-age") || wishes.has("min-fresh")
    }

    /// The smallest of several; 0 if none is valid.
    private static func maximumAge(_ wishes: ModelDirectives) -> Int {
        wishes.number("max-age") == .invalid ? wishes.numbers("max-age").min() ?? 0 : wishes.number("max-age").seconds ?? 0
    }

    /// §5.2.1.2: "If no value is assigned to max-stale, then the client will accept a stale response of any age."
    private static func staleLimit(_ wishes: ModelDirectives) -> Int? {
        if let limit = wishes.numbers("max-stale").min() { return limit }
        return wishes.hasWithoutArgument("max-stale") ? .max : nil
    }
}
