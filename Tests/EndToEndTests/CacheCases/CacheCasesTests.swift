import Testing

@Suite("RFC 9111 case by case, through the proxy")
struct CacheCasesTests {
    @Test("Freshness, age and dates (§4.2, §5.1, §5.3)", arguments: StoreTier.allCases)
    func freshness(tier: StoreTier) throws { try CacheStage(FreshnessCases.all, tier: tier).play() }

    @Test("What is stored (§3, §5.2.2)", arguments: StoreTier.allCases)
    func storing(tier: StoreTier) throws { try CacheStage(StoringCases.all, tier: tier).play() }

    @Test("What is selected (§4.1, §5.2.1)", arguments: StoreTier.allCases)
    func selecting(tier: StoreTier) throws { try CacheStage(SelectingCases.all, tier: tier).play() }

    @Test("Conditions, 304 and ranges (§3.2, §4.3)", arguments: StoreTier.allCases)
    func validating(tier: StoreTier) throws { try CacheStage(ValidatingCases.all, tier: tier).play() }

    @Test("What is served stale, as time passes (§4.2, RFC 5861)", arguments: StoreTier.allCases)
    func stale(tier: StoreTier) throws { try CacheStage(StaleCases.all, tier: tier).play() }

    @Test("Invalidation and failures (§4.2.4, §4.4)", arguments: StoreTier.allCases)
    func invalidating(tier: StoreTier) throws { try CacheStage(InvalidatingCases.all, tier: tier).play() }
}
