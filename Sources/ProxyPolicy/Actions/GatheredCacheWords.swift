import HTTPCaching

/// The cache words of all matching rules. A later rule's word takes the place of an earlier one's.
///
/// `unsafe` belongs to the words of its own rule: it comes out true only if every word that is left was said by a rule that
/// said `unsafe` too, so that no rule is made stronger by another.
struct GatheredCacheWords: Sendable {
    private var gathered = CacheOverrides()
    private var policyIsUnsafe = false
    private var timeToLiveIsUnsafe = false

    var overrides: CacheOverrides {
        var result = gathered
        let saysWord = gathered.policy != nil || gathered.timeToLive != nil
        let policyAgrees = gathered.policy == nil || policyIsUnsafe
        let timeToLiveAgrees = gathered.timeToLive == nil || timeToLiveIsUnsafe
        result.unsafe = saysWord && policyAgrees && timeToLiveAgrees
        return result
    }

    mutating func merge(_ later: CacheOverrides) {
        if later.policy != nil { policyIsUnsafe = later.unsafe }
        if later.timeToLive != nil { timeToLiveIsUnsafe = later.unsafe }
        gathered.merge(later)
    }
}
