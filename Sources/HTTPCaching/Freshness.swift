import HTTPMessage

/// How long a response stays fresh, counted from when the origin server generated it (RFC 9111 §4.2.1, §4.2.2).
public enum Freshness {
    /// The heuristic lifetime is the time since the last modification divided by this number. RFC 9111 §4.2.2 suggests a tenth.
    package static let heuristicDivisor: Int64 = 10
    /// The maximum heuristic lifetime.
    package static let heuristicLimit = DeltaSeconds(86_400)

    struct Lifetime: Equatable {
        var value: DeltaSeconds
        var source: LifetimeSource
    }

    /// The lifetime that the response gives a shared cache; zero if its values contradict each other.
    ///
    /// In order of precedence: s-maxage, max-age, Expires, the heuristic. A directive whose value is not a number, or that has several
    /// different values, makes the response stale (§4.2.1); an invalid Expires is treated as a time in the past (§5.3).
    static func lifetime(
        of response: ResponseHead, directives: ResponseDirectives, facts: ReuseFacts
    ) -> Lifetime {
        switch directives.sMaxAge {
        case .seconds(let number): return Lifetime(value: number, source: .sMaxAge)
        case .invalid: return Lifetime(value: .zero, source: .sMaxAge)
        case .absent: break
        }
        switch directives.maxAge {
        case .seconds(let number): return Lifetime(value: number, source: .maxAge)
        case .invalid: return Lifetime(value: .zero, source: .maxAge)
        case .absent: break
        }
        if response.fields.contains(.expires), !directives.isTargeted {
            return Lifetime(value: untilExpires(response.fields, facts: facts), source: .expires)
        }
        guard Storability.isHeuristicallyCacheable(response.status) || directives.flags.contains(.public) else {
            return Lifetime(value: .zero, source: .none)
        }
        return heuristic(facts)
    }

    /// Expires minus Date. If there are several Expires lines with different values, the response is stale.
    private static func untilExpires(_ fields: Fields, facts: ReuseFacts) -> DeltaSeconds {
        var earliest: Timestamp?
        var index = fields.index(of: .expires)
        while let found = index {
            guard let time = HTTPDate.parse(fields.value(of: fields.lines[found]), now: facts.responseTime),
                earliest == nil || earliest == time
            else { return .zero }
            earliest = time
            index = fields.index(of: .expires, from: found + 1)
        }
        guard let earliest else { return .zero }
        return DeltaSeconds(earliest.seconds - facts.dateValue.seconds)
    }

    private static func heuristic(_ facts: ReuseFacts) -> Lifetime {
        guard facts.flags.contains(.lastModified) else { return Lifetime(value: .zero, source: .none) }
        let sinceModification = DeltaSeconds(facts.dateValue.seconds - facts.lastModified.seconds)
        let tenth = DeltaSeconds(Int64(sinceModification.seconds) / heuristicDivisor)
        return Lifetime(value: min(tenth, heuristicLimit), source: .heuristic)
    }
}

extension ReuseFacts {
    /// The lifetime that applies under these overrides.
    ///
    /// A rule's lifetime is used if the origin server gave none, and replaces a heuristic one. It replaces an explicit lifetime, or
    /// applies to a response that requires validation, only if the rule is unsafe.
    func lifetime(under overrides: CacheOverrides) -> (value: DeltaSeconds, source: LifetimeSource, usedUnsafe: Bool) {
        guard let timeToLive = overrides.lifetime(of: status) else {
            let isGuessed = lifetimeSource == .heuristic && overrides.permitsHeuristic == false
            return isGuessed ? (.zero, .none, false) : (freshnessLifetime, limitingSource, false)
        }
        let isContradicted = lifetimeSource.isExplicit || prohibitsStaleUse
        guard isContradicted else { return withinSignature(timeToLive, usedUnsafe: false) }
        guard overrides.isTimeToLiveUnsafe, permitsUnsafeUse else { return (freshnessLifetime, limitingSource, false) }
        return withinSignature(timeToLive, usedUnsafe: true)
    }

    /// A rule's lifetime, limited by the expiry of the signature in Location: no rule makes the origin server accept an expired
    /// signature.
    private func withinSignature(
        _ timeToLive: DeltaSeconds, usedUnsafe: Bool
    ) -> (value: DeltaSeconds, source: LifetimeSource, usedUnsafe: Bool) {
        timeToLive > signatureLifetime ? (signatureLifetime, .signature, usedUnsafe) : (timeToLive, .rule, usedUnsafe)
    }

    /// Whether the signature in Location has expired when the response has this age. The redirect then leads to an error.
    func isPastSignature(age: Int64) -> Bool {
        signatureLifetime < .greatest && age >= signatureLifetime.milliseconds
    }

    /// Whether an unsafe rule may override the directives of this response. A response to a request with Authorization that may be
    /// shared only because of s-maxage or must-revalidate must follow these directives (RFC 9111 §3.5).
    var permitsUnsafeUse: Bool { !flags.contains(.authorized) || flags.contains(.public) }
}
